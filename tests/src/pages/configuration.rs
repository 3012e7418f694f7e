//! The reference of the configuration: each key of the JSON Schema, with an example.

use std::collections::BTreeMap;
use std::fmt::Write;

use crawlpike_core::Config;
use serde_json::Value;

const HEAD: &str = "\
# Configuration

<!-- `make pages` writes this page from the JSON Schema and docs/book/examples.json. -->

The configuration is one JSON document, the same for all gates and every command. This page has all of its keys. Unknown
keys are errors. `crawlpike lint --format config` reports all errors at once, with line and column.

[`crawlpike.schema.json`](crawlpike.schema.json) is the JSON Schema of the document. An editor that knows it completes
and checks the document while you write: name it in `$schema`.

A key in **bold** is required.
";

/// An example for each key, by its path, such as `feeds[].name`.
///
/// # Panics
///
/// If docs/book/examples.json is not that.
pub fn examples() -> BTreeMap<String, Value> {
    serde_json::from_str(&super::text("docs/book/examples.json"))
        .expect("docs/book/examples.json is an object")
}

/// The page.
///
/// # Panics
///
/// If a key has no example, or an example has no key.
pub fn page() -> String {
    let mut examples = examples();
    let mut page = HEAD.to_owned();
    object(&Config::json_schema(), "", &mut examples, &mut page);
    assert!(
        examples.is_empty(),
        "docs/book/examples.json has keys that the schema lacks: {:?}",
        examples.keys()
    );
    page
}

/// Describes an object, then the objects in it.
fn object(schema: &Value, path: &str, examples: &mut BTreeMap<String, Value>, page: &mut String) {
    let heading = if path.is_empty() { "The document".to_owned() } else { format!("`{path}`") };
    let description = schema["description"].as_str().unwrap_or_default();
    write!(page, "\n## {heading}\n\n{description}\n\n").expect("a String takes everything");
    page.push_str("| key | value | default | example | meaning |\n|---|---|---|---|---|\n");
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut inner = Vec::new();
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let child = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let example = examples.remove(&child).unwrap_or_else(|| {
            panic!("docs/book/examples.json has no example of `{child}`: add one, then `make pages`")
        });
        let name = if required.contains(&key.as_str()) { format!("**`{key}`**") } else { format!("`{key}`") };
        let default =
            property.get("default").map_or_else(|| "–".to_owned(), |default| format!("`{default}`"));
        let meaning = property["description"].as_str().unwrap_or_default();
        let cells = [name, kind(property), default, format!("`{example}`"), meaning.to_owned()];
        writeln!(page, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | ")).expect("a String");
        objects(property, child, &mut inner);
    }
    for (path, schema) in inner {
        object(schema, &path, examples, page);
    }
}

/// The objects that a property can have, with their paths.
fn objects<'s>(schema: &'s Value, path: String, found: &mut Vec<(String, &'s Value)>) {
    if schema.get("properties").is_some() {
        found.push((path, schema));
    } else if let Some(items) = schema.get("items") {
        objects(items, format!("{path}[]"), found);
    } else if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
        objects(values, format!("{path}.*"), found);
    } else {
        for choice in schema["oneOf"].as_array().into_iter().flatten() {
            objects(choice, path.clone(), found);
        }
    }
}

/// The possible values, in words.
fn kind(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        return choices.iter().map(kind).collect::<Vec<_>>().join(", or ");
    }
    match schema["type"].as_str() {
        Some("array") => format!("array of: {}", kind(&schema["items"])),
        Some("integer") => match (schema["minimum"].as_u64(), schema["maximum"].as_u64()) {
            (Some(least), Some(most)) if most < u64::MAX => format!("integer, {least} to {most}"),
            _ => "integer".to_owned(),
        },
        Some(name) => name.to_owned(),
        None => "any".to_owned(),
    }
}
