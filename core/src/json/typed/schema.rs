//! JSON Schemas (draft 2020-12), put together.

use alloc::string::ToString;
use alloc::vec::Vec;

use serde_json::{Map, Value};

/// `{"type": name}`.
pub(crate) fn of_type(name: &str) -> Value {
    let mut schema = Value::Object(Map::new());
    insert(&mut schema, "type", Value::from(name));
    schema
}

/// The whole numbers from `least` to `most`.
pub(super) fn whole_number(least: Value, most: Value) -> Value {
    let mut schema = of_type("integer");
    insert(&mut schema, "minimum", least);
    insert(&mut schema, "maximum", most);
    schema
}

/// Sets a member of a schema, which is an object by construction.
pub(crate) fn insert(schema: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = schema {
        map.insert(key.to_string(), value);
    }
}

/// Doc comment lines as one description.
pub(super) fn describe(schema: &mut Value, lines: &[&str]) {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    if !lines.is_empty() {
        insert(schema, "description", Value::from(lines.join(" ")));
    }
}

/// An object, member by member.
pub(crate) struct ObjectSchema {
    properties: Map<alloc::string::String, Value>,
    required: Vec<&'static str>,
    description: &'static [&'static str],
}

impl ObjectSchema {
    /// An object without members; `doc` is what the documentation says of it.
    pub(crate) fn new(doc: &'static [&'static str]) -> Self {
        Self { properties: Map::new(), required: Vec::new(), description: doc }
    }

    /// Adds a member that may be left out, and then is as if it were `default`, unless that is null.
    pub(crate) fn optional(&mut self, key: &'static str, doc: &[&str], mut schema: Value, default: Value) {
        describe(&mut schema, doc);
        if !default.is_null() {
            insert(&mut schema, "default", default);
        }
        self.properties.insert(key.to_string(), schema);
    }

    /// Adds a member that must be there.
    pub(crate) fn required(&mut self, key: &'static str, doc: &[&str], schema: Value) {
        self.optional(key, doc, schema, Value::Null);
        self.required.push(key);
    }

    /// The schema; other members are refused.
    pub(crate) fn finish(self) -> Value {
        let mut schema = of_type("object");
        describe(&mut schema, self.description);
        insert(&mut schema, "properties", Value::Object(self.properties));
        insert(&mut schema, "additionalProperties", Value::from(false));
        if !self.required.is_empty() {
            insert(&mut schema, "required", Value::from(self.required));
        }
        schema
    }
}
