//! JSON without a tree: slices of the source, whose positions are known.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The reason why a text is not JSON, and the place.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

/// One of the mistakes that people often make.
const NEEDLESS_COMMA: &str = "a comma before the end of an object or an array; remove it";

impl SyntaxError {
    /// That there is nothing behind the comma at this offset.
    pub(crate) fn needless_comma(offset: usize) -> Self {
        Self { offset, message: format!("not JSON: {NEEDLESS_COMMA}") }
    }
}

/// The one value that a document consists of, its syntax checked to the last bracket.
pub(crate) fn document(json: &str) -> Result<&RawValue, SyntaxError> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let document = raw_value(&mut deserializer).map_err(|error| {
        let offset = offset(json, &error);
        match usual_mistake(json, offset) {
            Some((offset, mistake)) => SyntaxError { offset, message: format!("not JSON: {mistake}") },
            None => {
                let cut = if error.is_eof() { ": was the file cut off?" } else { "" };
                SyntaxError { offset, message: format!("not JSON: {}{cut}", reason(&error)) }
            }
        }
    })?;
    deserializer.end().map_err(|error| SyntaxError {
        offset: offset(json, &error),
        message: "more text after the end of the JSON document".into(),
    })?;
    Ok(document)
}

fn raw_value<'a>(
    deserializer: &mut serde_json::Deserializer<serde_json::de::StrRead<'a>>,
) -> Result<&'a RawValue, serde_json::Error> {
    <&RawValue>::deserialize(deserializer)
}

/// serde_json counts columns in bytes; a position here starts from an offset.
fn offset(json: &str, error: &serde_json::Error) -> usize {
    let line: usize = json.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    line + error.column().saturating_sub(1)
}

/// A mistake that people often make where a text is not JSON from `offset` on, and its place.
fn usual_mistake(json: &str, offset: usize) -> Option<(usize, &'static str)> {
    let (before, rest) = json.split_at_checked(offset)?;
    let before = before.trim_ascii_end();
    let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| rest.starts_with(beginning));
    if begins(&["}", "]"]) && before.ends_with(',') {
        return Some((before.len() - 1, NEEDLESS_COMMA));
    }
    if begins(&["//", "/*", "#"]) {
        return Some((offset, "JSON has no comments; remove this one"));
    }
    if begins(&["'", "\u{201c}", "\u{201d}", "\u{2018}"]) {
        return Some((offset, "keys and strings have straight double quotes"));
    }
    let text = json.trim_ascii_start();
    let is_key = || before.is_empty() && text.lines().next().is_some_and(|line| line.contains(':'));
    let is_yaml = text.starts_with("---") || text.starts_with("- ") || is_key();
    (is_yaml && !text.starts_with(['{', '[', '"']))
        .then_some((json.len() - text.len(), "this looks like YAML; write it as JSON, which begins with `{`"))
}

/// The message without its position.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(" at line ") {
        Some((reason, _)) => reason.into(),
        None => message,
    }
}

/// The offset at which arrays and objects are nested deeper than `most`, if they are.
pub(crate) fn nested_deeper_than(json: &str, most: usize) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    json.bytes().position(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > most
    })
}

/// The text of a JSON string, borrowed if nothing in it is escaped. `None` for any other value, and for escapes that
/// stand for no character (half of a surrogate pair).
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(raw.get()).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// Calls `step` with each element of an array until it returns `None`. Returns `None` then, and for a value that is not an array.
pub(crate) fn each_element<'a>(
    array: &'a RawValue,
    step: &mut dyn FnMut(&'a RawValue) -> Option<()>,
) -> Option<()> {
    let mut deserializer = serde_json::Deserializer::from_str(array.get());
    deserializer.deserialize_seq(Elements { step }).ok()
}

struct Elements<'a, 's> {
    step: &'s mut dyn FnMut(&'a RawValue) -> Option<()>,
}

impl<'a> Visitor<'a> for Elements<'a, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(raw) = elements.next_element::<&RawValue>()? {
            (self.step)(raw).ok_or_else(|| A::Error::custom("stopped"))?;
        }
        Ok(())
    }
}

/// The reason why not all members of an object were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The step returned `None`.
    ByStep,
    /// A name has an escape that stands for no character, which the syntax allows; or there is no object.
    ByName,
}

/// Calls `step` with each member of an object, whose syntax is known to be right, until it returns `None`.
pub(crate) fn each_member<'a>(
    object: &'a RawValue,
    step: &mut dyn FnMut(Cow<'a, str>, &'a RawValue) -> Option<()>,
) -> Result<(), Stopped> {
    let mut is_stopped = false;
    let mut deserializer = serde_json::Deserializer::from_str(object.get());
    let read = deserializer.deserialize_map(EachMember { step, is_stopped: &mut is_stopped });
    read.map_err(|_| if is_stopped { Stopped::ByStep } else { Stopped::ByName })
}

struct EachMember<'a, 's> {
    step: &'s mut dyn FnMut(Cow<'a, str>, &'a RawValue) -> Option<()>,
    is_stopped: &'s mut bool,
}

/// A member's name; serde borrows a `Cow` only with this attribute.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Visitor<'a> for EachMember<'a, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some((Name(name), value)) = members.next_entry()? {
            if (self.step)(name, value).is_none() {
                *self.is_stopped = true;
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

/// The first member of an object with a name.
pub(crate) fn member<'a>(object: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    let mut found = None;
    let _ = each_member(object, &mut |known, value| {
        found = (known == name).then_some(value);
        found.is_none().then_some(())
    });
    found
}

/// The members of an object that were asked for, in the order of the names.
pub(crate) struct Members<'a, const N: usize> {
    /// The first value of each name.
    pub(crate) values: [Option<&'a RawValue>; N],
    /// The last value of each name that is there more than once.
    pub(crate) repeated: [Option<&'a RawValue>; N],
    /// A name that differs from one of those asked for in case only: usually a mistake, but another name in JSON.
    pub(crate) misspelt: Option<Cow<'a, str>>,
}

/// Finds members of an object whose syntax is known to be right. `None` when a name holds an escape that stands for no
/// character, which that syntax allows.
pub(crate) fn members<'a, const N: usize>(object: &'a RawValue, names: &[&str; N]) -> Option<Members<'a, N>> {
    let (mut values, mut repeated) = ([None; N], [None; N]);
    let misspelt = find_members(object, names, &mut values, &mut repeated).ok()?;
    Some(Members { values, repeated, misspelt })
}

/// The part of [`members`] that is the same for any number of names.
fn find_members<'a>(
    object: &'a RawValue,
    names: &[&str],
    values: &mut [Option<&'a RawValue>],
    repeated: &mut [Option<&'a RawValue>],
) -> Result<Option<Cow<'a, str>>, Stopped> {
    let mut misspelt = None;
    each_member(object, &mut |name, value| {
        let mut slots = names.iter().zip(values.iter_mut().zip(repeated.iter_mut()));
        match slots.find(|(known, _)| **known == name) {
            Some((_, (first, _))) if first.is_none() => *first = Some(value),
            Some((_, (_, second))) => *second = Some(value),
            None if names.iter().any(|known| known.eq_ignore_ascii_case(&name)) => misspelt = Some(name),
            None => {}
        }
        Some(())
    })?;
    Ok(misspelt)
}

/// The object or array at the start of a text, or how many bytes show that there is none.
pub(crate) fn value_at_start(text: &str) -> Result<&RawValue, usize> {
    raw_value(&mut serde_json::Deserializer::from_str(text)).map_err(|error| offset(text, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn nesting_is_counted_outside_strings() {
        assert_eq!(nested_deeper_than(r#"[{"[[[\"[[": []}, []]"#, 3), None);
        assert_eq!(nested_deeper_than(r#"[{"[[[\"[[": []}, []]"#, 2), Some(13));
    }

    #[test]
    fn strings_are_borrowed_unless_something_is_escaped() {
        let document = document(r#"["a/b", "a\/b", "\ud800", 7]"#).unwrap();
        let mut strings = Vec::new();
        each_element(document, &mut |raw| {
            strings.push(string(raw));
            Some(())
        });
        assert!(matches!(strings[0], Some(Cow::Borrowed("a/b"))));
        assert_eq!(strings[1].as_deref(), Some("a/b"));
        assert_eq!(strings[2..], [None, None]);
    }

    #[test]
    fn elements_come_until_the_step_stops() {
        let document = document("[1, 2, 3]").unwrap();
        let mut seen = 0;
        let stopped = each_element(document, &mut |raw| {
            seen += 1;
            (raw.get() != "2").then_some(())
        });
        assert_eq!((stopped, seen), (None, 2));
    }

    #[test]
    fn the_first_and_the_last_value_of_a_name_are_found() {
        let document = document(r#"{"a": 1, "\u0061": 2, "B": 3, "a": 4, "x": 5}"#).unwrap();
        let members = members(document, &["a", "b"]).unwrap();
        let text = |raw: Option<&RawValue>| raw.map(|raw| raw.get().to_string());
        assert_eq!(members.values.map(text), [Some("1".into()), None]);
        assert_eq!(members.repeated.map(text), [Some("4".into()), None]);
        assert_eq!(members.misspelt.as_deref(), Some("B"));
    }

    #[test]
    fn syntax_errors_have_an_offset() {
        let offset = |text| document(text).map_err(|error| error.offset).err();
        assert_eq!(offset("[1,\n  x]"), Some(6));
        assert_eq!(offset("[1] [2]"), Some(4));
        assert_eq!(offset("[1] \n"), None);
    }

    #[test]
    fn usual_mistakes_have_their_names_and_places() {
        let said = |text| document(text).map_err(|error| (error.offset, error.message)).err().unwrap();
        let comma = "not JSON: a comma before the end of an object or an array; remove it";
        let comment = "not JSON: JSON has no comments; remove this one";
        let quotes = "not JSON: keys and strings have straight double quotes";
        let yaml = "not JSON: this looks like YAML; write it as JSON, which begins with `{`";
        for (text, offset, message) in [
            ("{\"a\": 1,\n}", 7, comma),
            ("{\"a\": [1, 2 , ] }", 12, comma),
            ("{\"a\": {\"b\": 1, } }", 13, comma),
            ("// my document\n{}", 0, comment),
            ("{\n  # mode\n  \"mode\": 1}", 4, comment),
            ("{\"a\": 1 /* one */ }", 8, comment),
            ("{\"a\": 1, // one\n \"b\": 2 }", 9, comment),
            ("{'a': 1}", 1, quotes),
            ("{\"a\": 'b'}", 6, quotes),
            ("{\u{201c}a\u{201d}: 1}", 1, quotes),
            ("mode: enforce\nsites: []\n", 0, yaml),
            ("---\nmode: enforce\n", 0, yaml),
            ("- a\n- b\n", 0, yaml),
            ("{\"a\": x}", 6, "not JSON: expected value"),
        ] {
            assert_eq!(said(text), (offset, message.into()), "{text}");
        }
    }
}
