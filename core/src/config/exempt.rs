//! Clients that are allowed whatever they say.

use alloc::string::String;

use serde_json::Value;

use crate::json::typed::{FromJson, Node, Reader, json_object, of_type};
use crate::source::position::Placed;

/// An entry of `exempt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exemption {
    /// A prefix or an address.
    Prefix(Placed<String>),
    /// All prefixes of a feed.
    Feed(ExemptFeed),
}

json_object! {
    /// A feed whose addresses are exempt.
    pub struct ExemptFeed {
        /// The name of a feed of this document.
        pub feed: Placed<String> = required,
    }
}

impl FromJson for Exemption {
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        if node.is_object() {
            return ExemptFeed::from_json(node, reader).map(Self::Feed);
        }
        let value = node.parse(reader, r#"a prefix such as "192.0.2.0/24", or { "feed": NAME }"#)?;
        Some(Self::Prefix(Placed { value, position: node.position(reader) }))
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Prefix(prefix) => prefix.to_json(),
            Self::Feed(feed) => feed.to_json(),
        }
    }

    fn schema() -> Value {
        serde_json::json!({ "oneOf": [of_type("string"), ExemptFeed::schema()] })
    }
}
