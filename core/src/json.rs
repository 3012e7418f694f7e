//! JSON without a tree: slices of the source, each of which knows where it is.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Why and where a text is not JSON.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

/// The one value that a document consists of, its syntax checked to the last bracket.
pub(crate) fn document(json: &str) -> Result<&RawValue, SyntaxError> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let document = <&RawValue>::deserialize(&mut deserializer).map_err(|error| {
        let cut = if error.is_eof() { ": was the file cut off?" } else { "" };
        SyntaxError { offset: offset(json, &error), message: format!("not JSON: {}{cut}", reason(&error)) }
    })?;
    deserializer.end().map_err(|error| SyntaxError {
        offset: offset(json, &error),
        message: "more text after the end of the JSON document".into(),
    })?;
    Ok(document)
}

/// serde_json counts columns in bytes; a position here starts from an offset.
fn offset(json: &str, error: &serde_json::Error) -> usize {
    let line: usize = json.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    line + error.column().saturating_sub(1)
}

/// The message without its position.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(" at line ") {
        Some((reason, _)) => reason.into(),
        None => message,
    }
}

/// Where arrays and objects are nested deeper than `most`, if they are.
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

/// The text of a JSON string, borrowed where nothing in it is escaped. `None` for any other value, and for escapes that
/// stand for no character (half of a surrogate pair).
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(raw.get()).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// Calls `step` with each element of an array until it returns `None`.
pub(crate) fn each_element<'a>(
    array: &'a RawValue,
    step: impl FnMut(&'a RawValue) -> Option<()>,
) -> Option<()> {
    let mut deserializer = serde_json::Deserializer::from_str(array.get());
    Elements { step, lifetime: PhantomData }.deserialize(&mut deserializer).ok()
}

struct Elements<'a, F> {
    step: F,
    lifetime: PhantomData<&'a ()>,
}

impl<'a, F: FnMut(&'a RawValue) -> Option<()>> DeserializeSeed<'a> for Elements<'a, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a, F: FnMut(&'a RawValue) -> Option<()>> Visitor<'a> for Elements<'a, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(raw) = elements.next_element::<&RawValue>()? {
            (self.step)(raw).ok_or_else(|| A::Error::custom("stopped"))?;
        }
        Ok(())
    }
}

/// The members of an object that were asked for, in the order of the names.
pub(crate) struct Members<'a, const N: usize> {
    /// The first value of each name.
    pub(crate) values: [Option<&'a RawValue>; N],
    /// The second value of each name; more are dropped.
    pub(crate) repeated: [Option<&'a RawValue>; N],
    /// A member whose name differs from `like` in case only.
    pub(crate) unknown_like: Option<Cow<'a, str>>,
}

/// Finds members of an object whose syntax is known to be right. `None` when a name holds an escape that stands for no
/// character, which that syntax allows.
pub(crate) fn members<'a, const N: usize>(
    object: &'a RawValue,
    names: &[&str; N],
    like: &str,
) -> Option<Members<'a, N>> {
    let mut found = Members { values: [None; N], repeated: [None; N], unknown_like: None };
    let mut deserializer = serde_json::Deserializer::from_str(object.get());
    MemberVisitor { names, like, found: &mut found }.deserialize(&mut deserializer).ok()?;
    Some(found)
}

struct MemberVisitor<'a, 's, const N: usize> {
    names: &'s [&'s str; N],
    like: &'s str,
    found: &'s mut Members<'a, N>,
}

/// A member's name; serde borrows a `Cow` only when told to.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a, const N: usize> DeserializeSeed<'a> for MemberVisitor<'a, '_, N> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a, const N: usize> Visitor<'a> for MemberVisitor<'a, '_, N> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut members: A) -> Result<(), A::Error> {
        let Members { values, repeated, unknown_like } = self.found;
        while let Some(Name(name)) = members.next_key()? {
            let mut slots = self.names.iter().zip(values.iter_mut().zip(repeated.iter_mut()));
            match slots.find(|(known, _)| **known == name) {
                Some((_, (first, _))) if first.is_none() => *first = Some(members.next_value()?),
                Some((_, (_, second))) => *second = Some(members.next_value()?),
                None => {
                    members.next_value::<IgnoredAny>()?;
                    if name.eq_ignore_ascii_case(self.like) {
                        *unknown_like = Some(name);
                    }
                }
            }
        }
        Ok(())
    }
}
