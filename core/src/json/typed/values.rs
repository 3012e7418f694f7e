//! The plain values of a document: texts, numbers, lists.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::schema::{insert, of_type, whole_number};
use super::{FromJson, Node, Reader};
use crate::source::position::Placed;

impl<T: FromJson> FromJson for Placed<T> {
    #[inline(never)]
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        let value = T::from_json(node, reader)?;
        Some(Self { value, position: node.position(reader) })
    }

    fn to_json(&self) -> Value {
        self.value.to_json()
    }

    fn schema() -> Value {
        T::schema()
    }
}

impl FromJson for String {
    #[inline(never)]
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        node.parse(reader, "a string")
    }

    fn to_json(&self) -> Value {
        Value::from(self.as_str())
    }

    fn schema() -> Value {
        of_type("string")
    }
}

impl FromJson for bool {
    #[inline(never)]
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        node.parse(reader, "true or false")
    }

    fn to_json(&self) -> Value {
        Value::from(*self)
    }

    fn schema() -> Value {
        of_type("boolean")
    }
}

impl FromJson for i64 {
    #[inline(never)]
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        node.parse(reader, "a whole number")
    }

    fn to_json(&self) -> Value {
        Value::from(*self)
    }

    fn schema() -> Value {
        whole_number(Value::from(Self::MIN), Value::from(Self::MAX))
    }
}

/// A whole number from 0 to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpTo<const MOST: u8, const LEAST: u8 = 0>(pub u8);

impl<const MOST: u8, const LEAST: u8> FromJson for UpTo<MOST, LEAST> {
    #[inline(never)]
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        let expected = format_args!("a whole number from {LEAST} to {MOST}");
        node.parse_if(reader, expected, |number| (LEAST..=MOST).contains(number)).map(Self)
    }

    fn to_json(&self) -> Value {
        Value::from(self.0)
    }

    fn schema() -> Value {
        whole_number(Value::from(LEAST), Value::from(MOST))
    }
}

impl FromJson for usize {
    /// A limit that is greater than what this machine can count to limits nothing on it: a document means the same to a
    /// Wasm filter, which has 32 bits.
    #[inline(never)]
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        let number: u64 = node.parse(reader, "a whole number that is not negative")?;
        Some(Self::try_from(number).unwrap_or(Self::MAX))
    }

    fn to_json(&self) -> Value {
        Value::from(*self)
    }

    fn schema() -> Value {
        whole_number(Value::from(0), Value::from(u64::MAX))
    }
}

/// A key that may be left out.
impl<T: FromJson> FromJson for Option<T> {
    #[inline(never)]
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        T::from_json(node, reader).map(Some)
    }

    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_json)
    }

    fn schema() -> Value {
        T::schema()
    }
}

/// A value that takes little room where it is left out.
impl<T: FromJson> FromJson for Box<T> {
    #[inline(never)]
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        T::from_json(node, reader).map(Self::new)
    }

    fn to_json(&self) -> Value {
        (**self).to_json()
    }

    fn schema() -> Value {
        T::schema()
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    #[inline(never)]
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        let elements = node.elements(reader)?;
        Some(elements.filter_map(|element| T::from_json(&element, reader)).collect())
    }

    fn to_json(&self) -> Value {
        self.iter().map(T::to_json).collect()
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
    #[inline(never)]
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        let members = node.members(reader)?.into_iter();
        let read = |member: super::node::Member<'a>| {
            T::from_json(&member.value, reader).map(|value| (member.key, value))
        };
        Some(Self(members.filter_map(read).collect()))
    }

    fn to_json(&self) -> Value {
        let members = self.0.iter().map(|(key, value)| (key.clone(), value.to_json()));
        Value::Object(members.collect::<Map<_, _>>())
    }

    fn schema() -> Value {
        let mut schema = of_type("object");
        insert(&mut schema, "additionalProperties", T::schema());
        schema
    }
}
