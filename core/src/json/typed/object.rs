//! Objects with known keys.

use alloc::format;
use alloc::vec::Vec;

use super::node::Member;
use super::{FromJson, Node, Reader};
use crate::source::suggestion::suggestion;

/// The way in which the fields of a [`json_object!`] are read.
pub(crate) struct ObjectReader<'a, 'n> {
    node: &'n Node<'a>,
    members: Vec<Member<'a>>,
}

impl<'a, 'n> ObjectReader<'a, 'n> {
    /// Takes the object apart and reports keys that are not in `known`.
    pub(crate) fn new(node: &'n Node<'a>, reader: &mut Reader<'a, '_>, known: &[&str]) -> Option<Self> {
        let members = node.members(reader)?;
        for member in &members {
            let key = member.key.as_str();
            if !known.contains(&key) {
                member.report_key(reader, |path| {
                    format!("unknown key `{path}`{}", suggestion(key, known.iter().copied()))
                });
            }
        }
        Some(Self { node, members })
    }

    /// The field's value; `absent` if the key is missing or, after an error, if its value is invalid.
    pub(crate) fn field<T: FromJson>(
        &self,
        reader: &mut Reader<'a, '_>,
        key: &str,
        absent: Option<impl FnOnce() -> T>,
    ) -> Option<T> {
        match (self.member(key), absent) {
            (Some(member), absent) => {
                T::from_json(&member.value, reader).or_else(|| absent.map(|absent| absent()))
            }
            (None, Some(absent)) => Some(absent()),
            (None, None) => {
                self.report_missing(reader, key);
                None
            }
        }
    }

    // These are not made part of the code for each field, which takes 10 KB in the Wasm filter.
    #[inline(never)]
    fn member(&self, key: &str) -> Option<&Member<'a>> {
        self.members.iter().find(|member| member.key == key)
    }

    #[inline(never)]
    fn report_missing(&self, reader: &mut Reader<'a, '_>, key: &str) {
        self.node.report(reader, format_args!("missing key `{key}`"));
    }

    /// Checks the type of a member that is not used.
    pub(crate) fn ignore<T: FromJson>(&self, reader: &mut Reader<'a, '_>, key: &str) {
        // Only what is wrong with it counts, and that is reported.
        let _: Option<Option<T>> = self.field(reader, key, Some(|| None));
    }
}

/// Declares a struct that is read from a JSON object: each field with its doc, its type and what its absence means.
///
/// `= required`, or `= { EXPRESSION }` for a default. `ignored { … }` lists keys that may stand in the document for
/// others to read.
macro_rules! json_object {
    (
        $(#[doc = $doc:literal])*
        $visibility:vis struct $name:ident {
            $( $(#[doc = $field_doc:literal])* pub $field:ident: $type:ty = $absent:tt ),+ $(,)?
        }
        $( ignored { $( $(#[doc = $ignored_doc:literal])* $ignored:literal: $ignored_type:ty ),* $(,)? } )?
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $visibility struct $name {
            $( $(#[doc = $field_doc])* pub $field: $type, )+
        }

        impl $crate::json::typed::FromJson for $name {
            fn from_json<'a>(
                node: &$crate::json::typed::Node<'a>,
                reader: &mut $crate::json::typed::Reader<'a, '_>,
            ) -> Option<Self> {
                let known = [$( stringify!($field), )+ $( $( $ignored, )* )?];
                let object = $crate::json::typed::ObjectReader::new(node, reader, &known)?;
                $( let $field = object.field(reader, stringify!($field), json_object!(@absent $type, $absent)); )+
                $( $( object.ignore::<$ignored_type>(reader, $ignored); )* )?
                Some(Self { $( $field: $field?, )+ })
            }

            fn to_json(&self) -> serde_json::Value {
                let members = [$( (stringify!($field), $crate::json::typed::FromJson::to_json(&self.$field)) ),+];
                let present = members.into_iter().filter(|(_, value)| !value.is_null());
                present.map(|(key, value)| (alloc::string::String::from(key), value)).collect()
            }

            fn schema() -> serde_json::Value {
                let mut object = $crate::json::typed::ObjectSchema::new(&[$( $doc ),*]);
                $( $(
                    object.optional(
                        $ignored,
                        &[$( $ignored_doc ),*],
                        <$ignored_type as $crate::json::typed::FromJson>::schema(),
                        serde_json::Value::Null,
                    );
                )* )?
                $( json_object!(@property object, $field, [$( $field_doc ),*], $type, $absent); )+
                object.finish()
            }
        }
    };
    (@absent $type:ty, required) => { None::<fn() -> $type> };
    (@absent $type:ty, { $absent:expr }) => { Some(|| -> $type { $absent }) };
    (@property $object:ident, $field:ident, $doc:tt, $type:ty, required) => {
        $object.required(
            stringify!($field),
            &$doc,
            <$type as $crate::json::typed::FromJson>::schema(),
        );
    };
    (@property $object:ident, $field:ident, $doc:tt, $type:ty, { $absent:expr }) => {
        let default: $type = $absent;
        $object.optional(
            stringify!($field),
            &$doc,
            <$type as $crate::json::typed::FromJson>::schema(),
            $crate::json::typed::FromJson::to_json(&default),
        );
    };
}

pub(crate) use json_object;
