//! Reads a JSON document into plain structs and reports everything that is wrong with it at once, each with its place.
//!
//! A derive of serde stops at the first error and knows positions only there; who edits a configuration at night
//! wants the whole list. So the two macros here describe an object or a word list once, and give its reader and its
//! JSON Schema. The parsing itself is serde_json's: a [`Node`] is one of its raw values.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::diagnostic::{Diagnostics, Locator, Position};
use crate::json::{self, SyntaxError};
use crate::source_text::{self, BYTE_ORDER_MARK, Expected};

/// A JSON value, where it stands in the document.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    raw: &'a RawValue,
    /// The value's place as a person writes it: `sites[0].hosts[1]`; empty for the document.
    path: String,
}

impl<'a> Node<'a> {
    /// The whole document.
    ///
    /// Reports an error and gives `None` where the bytes are not one JSON value in UTF-8.
    pub fn document(bytes: &'a [u8], reader: &mut Reader<'a, '_>) -> Option<Self> {
        let expected = Expected { what: "JSON", requirement: None };
        let text = source_text::read(bytes, expected, reader.diagnostics)?;
        match json::document(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)) {
            Ok(raw) => Some(Self { raw, path: String::new() }),
            Err(SyntaxError { offset, message }) => {
                let skipped = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
                let position = reader.locator.position(skipped + offset);
                reader.diagnostics.error(position, None, message);
                None
            }
        }
    }

    /// The members of an object, keys in their order; reports an error where it is none.
    fn members(&self, reader: &mut Reader<'a, '_>) -> Option<Vec<(&'a RawValue, String, Self)>> {
        let Members(members) = self.parse(reader, "an object")?;
        let mut seen = BTreeSet::new();
        let mut read = Vec::with_capacity(members.len());
        for (raw_key, raw) in members {
            let Ok(key) = serde_json::from_str::<String>(raw_key.get()) else {
                reader.error_at(raw_key.get(), format!("the key is {}", kind(raw_key.get())));
                continue;
            };
            let path = if self.path.is_empty() { key.clone() } else { format!("{}.{key}", self.path) };
            if !seen.insert(key.clone()) {
                reader.error_at(raw_key.get(), format!("`{path}` is given twice"));
                continue;
            }
            read.push((raw_key, key, Self { raw, path }));
        }
        Some(read)
    }

    fn parse<T: Deserialize<'a>>(
        &self,
        reader: &mut Reader<'_, '_>,
        expected: impl fmt::Display,
    ) -> Option<T> {
        let parsed = serde_json::from_str(self.raw.get()).ok();
        if parsed.is_none() {
            self.unexpected(reader, expected);
        }
        parsed
    }

    fn unexpected(&self, reader: &mut Reader<'_, '_>, expected: impl fmt::Display) {
        self.report(reader, format_args!("expected {expected}, found {}", kind(self.raw.get())));
    }

    /// Reports an error about this value, with its path before the message.
    pub fn report(&self, reader: &mut Reader<'_, '_>, message: impl fmt::Display) {
        let message =
            if self.path.is_empty() { message.to_string() } else { format!("`{}`: {message}", self.path) };
        reader.error_at(self.raw.get(), message);
    }

    /// Whether the value is a string.
    pub fn is_string(&self) -> bool {
        self.raw.get().starts_with('"')
    }

    /// The value's position in the document.
    pub fn position(&self, reader: &mut Reader<'_, '_>) -> Option<Position> {
        reader.locator.position_of(self.raw.get().as_bytes())
    }
}

/// What reading a document needs on the way: where things are, and where to complain.
#[derive(Debug)]
pub struct Reader<'a, 'd> {
    locator: Locator<'a>,
    diagnostics: &'d mut Diagnostics,
}

impl<'a, 'd> Reader<'a, 'd> {
    /// A reader of `document` that reports to `diagnostics`.
    pub fn new(document: &'a [u8], diagnostics: &'d mut Diagnostics) -> Self {
        Self { locator: Locator::new(document), diagnostics }
    }

    fn error_at(&mut self, text: &str, message: String) {
        let position = self.locator.position_of(text.as_bytes());
        self.diagnostics.error(position, None, message);
    }
}

/// A value with the position where it was given, for checks that come after reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Where it stands in the document.
    pub position: Option<Position>,
}

impl<T> core::ops::Deref for Placed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// A type that a JSON value can be read into.
pub trait FromJson: Sized {
    /// Reads the value; reports what is wrong. What can be used of it is given, so that it can be checked further; `None`
    /// where nothing can.
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self>;

    /// The JSON Schema (draft 2020-12) of the values that are read without error.
    fn schema() -> Value;
}

impl FromJson for String {
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        node.parse(reader, "a string")
    }

    fn schema() -> Value {
        of_type("string")
    }
}

impl FromJson for bool {
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        node.parse(reader, "true or false")
    }

    fn schema() -> Value {
        of_type("boolean")
    }
}

impl FromJson for i64 {
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        node.parse(reader, "a whole number")
    }

    fn schema() -> Value {
        whole_number(Value::from(Self::MIN), Value::from(Self::MAX))
    }
}

/// A whole number from 0 to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpTo<const MOST: u8>(pub u8);

impl<const MOST: u8> FromJson for UpTo<MOST> {
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        let expected = format_args!("a whole number from 0 to {MOST}");
        let number = serde_json::from_str(node.raw.get()).ok().filter(|number| *number <= MOST);
        if number.is_none() {
            node.unexpected(reader, expected);
        }
        number.map(Self)
    }

    fn schema() -> Value {
        whole_number(Value::from(0), Value::from(MOST))
    }
}

impl FromJson for usize {
    /// What a machine can't count to is no limit there: a document means the same to a Wasm filter, which has 32 bits.
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        let number: u64 = node.parse(reader, "a whole number that is not negative")?;
        Some(Self::try_from(number).unwrap_or(Self::MAX))
    }

    fn schema() -> Value {
        whole_number(Value::from(0), Value::from(u64::MAX))
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        T::from_json(node, reader).map(Some)
    }

    fn schema() -> Value {
        T::schema()
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        let raws: Vec<&'a RawValue> = node.parse(reader, "an array")?;
        let items = raws.into_iter().enumerate().map(|(index, raw)| {
            let item = Node { raw, path: format!("{}[{index}]", node.path) };
            T::from_json(&item, reader)
        });
        Some(items.flatten().collect())
    }

    fn schema() -> Value {
        let mut schema = of_type("array");
        insert(&mut schema, "items", T::schema());
        schema
    }
}

/// An object whose keys are the document's to choose, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dictionary<T>(pub Vec<(String, T)>);

impl<T> Default for Dictionary<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: FromJson> FromJson for Dictionary<T> {
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        let members = node.members(reader)?.into_iter();
        let read = |(_, key, value)| T::from_json(&value, reader).map(|value| (key, value));
        Some(Self(members.filter_map(read).collect()))
    }

    fn schema() -> Value {
        let mut schema = of_type("object");
        insert(&mut schema, "additionalProperties", T::schema());
        schema
    }
}

impl<T: FromJson> FromJson for Placed<T> {
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        let value = T::from_json(node, reader)?;
        Some(Self { value, position: node.position(reader) })
    }

    fn schema() -> Value {
        T::schema()
    }
}

struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

/// What a value is, for messages.
fn kind(raw: &str) -> String {
    const LONGEST: usize = 24;
    let kind = match raw.bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        // JSON's syntax allows it, and there is no text with it.
        Some(b'"') if serde_json::from_str::<String>(raw).is_err() => {
            "a string with half of a surrogate pair, such as `\\ud800`"
        }
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ if raw.len() <= LONGEST => return format!("the number {raw}"),
        _ => "a number",
    };
    kind.into()
}

/// The known word nearest to `wrong`, as ` (did you mean …?)`, or the list of known words where none is near.
pub fn suggestion<'w>(wrong: &str, known: impl IntoIterator<Item = &'w str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = known
        .iter()
        .map(|word| (strsim::jaro_winkler(&wrong.to_lowercase(), &word.to_lowercase()), word))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    match nearest {
        Some((_, word)) => format!(" (did you mean `{word}`?)"),
        None if known.is_empty() || known.len() > 20 => String::new(),
        None => format!(" (known: {})", known.join(", ")),
    }
}

/// How one field of a [`json_object!`] is read.
#[doc(hidden)]
pub struct ObjectReader<'a> {
    members: Vec<(&'a RawValue, String, Node<'a>)>,
    path: String,
    position: &'a str,
}

impl<'a> ObjectReader<'a> {
    /// Takes the object apart and reports keys that are neither in `known` nor in `later`.
    pub fn new(node: &Node<'a>, reader: &mut Reader<'a, '_>, known: &[&str], later: &[&str]) -> Option<Self> {
        let members = node.members(reader)?;
        for (raw_key, key, member) in &members {
            let path = &member.path;
            if later.contains(&key.as_str()) {
                reader.error_at(
                    raw_key.get(),
                    format!("`{path}` is not yet supported by this version of Crawlward: remove it"),
                );
            } else if !known.contains(&key.as_str()) {
                let suggestion = suggestion(key, known.iter().copied());
                reader.error_at(raw_key.get(), format!("unknown key `{path}`{suggestion}"));
            }
        }
        Some(Self { members, path: node.path.clone(), position: node.raw.get() })
    }

    /// The field's value, or `absent` where the key is not there or, after reporting it, can't be read.
    pub fn field<T: FromJson>(
        &self,
        reader: &mut Reader<'a, '_>,
        key: &str,
        absent: Option<impl FnOnce() -> T>,
    ) -> Option<T> {
        match (self.members.iter().find(|(_, other, _)| other == key), absent) {
            (Some((_, _, node)), absent) => {
                T::from_json(node, reader).or_else(|| absent.map(|absent| absent()))
            }
            (None, Some(absent)) => Some(absent()),
            (None, None) => {
                let path = if self.path.is_empty() { String::new() } else { format!("`{}`: ", self.path) };
                reader.error_at(self.position, format!("{path}the key `{key}` is missing"));
                None
            }
        }
    }
}

fn whole_number(least: Value, most: Value) -> Value {
    let mut schema = of_type("integer");
    insert(&mut schema, "minimum", least);
    insert(&mut schema, "maximum", most);
    schema
}

/// `{"type": name}`.
#[doc(hidden)]
pub fn of_type(name: &str) -> Value {
    let mut schema = Value::Object(Map::new());
    insert(&mut schema, "type", Value::from(name));
    schema
}

/// Sets a member of a schema, which is an object by construction.
#[doc(hidden)]
pub fn insert(schema: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = schema {
        map.insert(key.to_string(), value);
    }
}

/// Doc comment lines as one description.
#[doc(hidden)]
pub fn describe(schema: &mut Value, lines: &[&str]) {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    if !lines.is_empty() {
        insert(schema, "description", Value::from(lines.join(" ")));
    }
}

/// Declares a struct that is read from a JSON object: each field with its doc, its type and what its absence means.
///
/// `= required`, or `= EXPRESSION` for a default. `later { … }` lists keys that the contract has and this version
/// does not: they are refused, never ignored.
macro_rules! json_object {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $( $(#[doc = $field_doc:literal])* pub $field:ident: $type:ty = $absent:tt ),+ $(,)?
        }
        $( later { $( $later:literal ),* $(,)? } )?
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $( $(#[doc = $field_doc])* pub $field: $type, )+
        }

        impl $crate::typed_json::FromJson for $name {
            fn from_json<'a>(
                node: &$crate::typed_json::Node<'a>,
                reader: &mut $crate::typed_json::Reader<'a, '_>,
            ) -> Option<Self> {
                let known = [$( stringify!($field) ),+];
                let later: &[&str] = &[$( $( $later ),* )?];
                let object = $crate::typed_json::ObjectReader::new(node, reader, &known, later)?;
                $( let $field = object.field(reader, stringify!($field), json_object!(@absent $type, $absent)); )+
                Some(Self { $( $field: $field?, )+ })
            }

            fn schema() -> serde_json::Value {
                let mut schema = $crate::typed_json::of_type("object");
                $crate::typed_json::describe(&mut schema, &[$( $doc ),*]);
                let mut properties = serde_json::Value::Object(serde_json::Map::new());
                let mut required: alloc::vec::Vec<&str> = alloc::vec::Vec::new();
                $(
                    let mut property = <$type as $crate::typed_json::FromJson>::schema();
                    $crate::typed_json::describe(&mut property, &[$( $field_doc ),*]);
                    $crate::typed_json::insert(&mut properties, stringify!($field), property);
                    if json_object!(@required $absent) {
                        required.push(stringify!($field));
                    }
                )+
                $crate::typed_json::insert(&mut schema, "properties", properties);
                $crate::typed_json::insert(&mut schema, "additionalProperties", serde_json::Value::from(false));
                if !required.is_empty() {
                    $crate::typed_json::insert(&mut schema, "required", serde_json::Value::from(required));
                }
                schema
            }
        }
    };
    (@absent $type:ty, required) => { None::<fn() -> $type> };
    (@absent $type:ty, { $absent:expr }) => { Some(|| -> $type { $absent }) };
    (@required required) => { true };
    (@required $absent:tt) => { false };
}

/// Declares an enum that is read from one of a few words.
macro_rules! json_words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $word:literal ),+ $(,)?
        }
        $( later { $( $later:literal ),* $(,)? } )?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $( $(#[$variant_meta])* #[serde(rename = $word)] $variant, )+
        }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$( Self::$variant ),+];

            /// The word, as it is written everywhere.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }

            /// The value that a word stands for.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $( $word => Some(Self::$variant), )+ _ => None }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::typed_json::FromJson for $name {
            fn from_json<'a>(
                node: &$crate::typed_json::Node<'a>,
                reader: &mut $crate::typed_json::Reader<'a, '_>,
            ) -> Option<Self> {
                let word = <alloc::string::String as $crate::typed_json::FromJson>::from_json(node, reader)?;
                let later: &[&str] = &[$( $( $later ),* )?];
                let value = Self::from_word(&word);
                if value.is_none() {
                    let message = if later.contains(&word.as_str()) {
                        alloc::format!("`{word}` is not yet supported by this version of Crawlward")
                    } else {
                        let known = Self::ALL.iter().map(|value| value.as_str());
                        alloc::format!("unknown value `{word}`{}", $crate::typed_json::suggestion(&word, known))
                    };
                    node.report(reader, message);
                }
                value
            }

            fn schema() -> serde_json::Value {
                let mut schema = $crate::typed_json::of_type("string");
                let words: alloc::vec::Vec<&str> = Self::ALL.iter().map(|value| value.as_str()).collect();
                $crate::typed_json::insert(&mut schema, "enum", serde_json::Value::from(words));
                schema
            }
        }
    };
}

pub(crate) use {json_object, json_words};
