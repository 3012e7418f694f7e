//! Lines that are JSON objects.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::builder::{Builder, Escape, Fault, Value};
use super::names::{self, Field, Meaning};
use super::record::Record;

/// The meanings of the keys.
#[derive(Clone, Debug)]
pub(crate) enum Keys {
    /// The names that are known, and the header with the purposes.
    Known(String),
    /// Those of a format.
    Given(Vec<(String, Meaning)>),
}

impl Keys {
    fn meaning(&self, key: &str) -> Option<Meaning> {
        match self {
            Self::Known(purpose_header) => names::of_key(key, purpose_header),
            Self::Given(keys) => keys.iter().find(|(given, _)| given == key).map(|(_, meaning)| *meaning),
        }
    }

    /// Reads a line.
    pub(crate) fn read<'l>(&self, line: &'l [u8]) -> Result<Record<'l>, Fault> {
        match std::str::from_utf8(line) {
            Ok(line) => self.read_text(line)?.finish(),
            // nginx leaves bytes that are not UTF-8 as they are. In a User-Agent each counts as a letter, and so does
            // what stands for them.
            Err(_) => {
                let line = String::from_utf8_lossy(line);
                self.read_text(&line)?.finish().map(into_owned)
            }
        }
    }

    fn read_text<'l>(&self, line: &'l str) -> Result<Builder<'l>, Fault> {
        let mut deserializer = serde_json::Deserializer::from_str(line);
        let builder = deserializer.deserialize_map(Members(self)).map_err(|_| Fault::Unreadable)?;
        deserializer.end().map_err(|_| Fault::Unreadable)?;
        Ok(builder)
    }
}

fn into_owned(record: Record<'_>) -> Record<'static> {
    let owned = |text: Cow<'_, [u8]>| Cow::Owned(text.into_owned());
    Record {
        address: record.address,
        time: record.time,
        milliseconds: record.milliseconds,
        scheme: record.scheme,
        authority: record.authority.map(owned),
        method: owned(record.method),
        target: owned(record.target),
        is_rewritten: record.is_rewritten,
        user_agent: record.user_agent.map(owned),
        purpose: record.purpose.map(owned),
        accept: record.accept.map(owned),
        status: record.status,
        bytes: record.bytes,
    }
}

struct Members<'k>(&'k Keys);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Builder<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Builder<'de>, A::Error> {
        let mut builder = Builder::new(Escape::None);
        let mut seen = [false; Field::COUNT];
        while let Some(meaning) = map.next_key_seed(Key(self.0))? {
            match meaning {
                Some(meaning) => {
                    seen[meaning.0 as usize] = true;
                    if let Some(value) = map.next_value_seed(Scalar)? {
                        builder.put(meaning, value);
                    }
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        // An object of another program has no User-Agent: to judge it would make automation of it.
        let is_log = matches!(self.0, Keys::Given(_)) || names::suffice(|field| seen[field as usize]);
        if is_log { Ok(builder) } else { Err(A::Error::custom("no request")) }
    }
}

/// The meaning of a key, without a copy of it.
struct Key<'k>(&'k Keys);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<Meaning>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<Meaning>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.meaning(key))
    }
}

/// A text or a number; anything else is none.
struct Scalar;

impl<'de> DeserializeSeed<'de> for Scalar {
    type Value = Option<Value<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Scalar {
    type Value = Option<Value<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Value::Text(Cow::Borrowed(text.as_bytes()))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Value::Text(Cow::Owned(text.as_bytes().to_vec()))))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(Value::Number(number as f64)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(Value::Number(number as f64)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Some(Value::Number(number)))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}
