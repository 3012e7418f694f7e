//! Values that are one of a few words.

use alloc::format;
use alloc::string::String;

use serde_json::Value;

use super::schema::{insert, of_type};
use super::{FromJson, Node, Reader};
use crate::source::suggestion::suggestion;

/// One of `words`; reports an error if the value is something else.
pub(crate) fn read_word<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>, words: &[&str]) -> Option<String> {
    let word = String::from_json(node, reader)?;
    if !words.contains(&word.as_str()) {
        node.report(reader, format!("unknown value `{word}`{}", suggestion(&word, words.iter().copied())));
        return None;
    }
    Some(word)
}

/// The JSON Schema of a string that is one of `words`.
pub(crate) fn schema_of_words(words: &[&str]) -> Value {
    let mut schema = of_type("string");
    insert(&mut schema, "enum", Value::from(words));
    schema
}

/// Declares an enum that is read from one of a few words.
macro_rules! json_words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $word:literal ),+ $(,)?
        }
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

        impl $crate::json::typed::FromJson for $name {
            #[inline(never)]
            fn from_json<'a>(
                node: &$crate::json::typed::Node<'a>,
                reader: &mut $crate::json::typed::Reader<'a, '_>,
            ) -> Option<Self> {
                let words = [$( $word ),+];
                $crate::json::typed::read_word(node, reader, &words).and_then(|word| Self::from_word(&word))
            }

            fn to_json(&self) -> serde_json::Value {
                serde_json::Value::from(self.as_str())
            }

            fn schema() -> serde_json::Value {
                $crate::json::typed::schema_of_words(&[$( $word ),+])
            }
        }
    };
}

pub(crate) use json_words;
