//! In place of `tables` in Wasm: a filter reads no tables, since they come with the compiled ruleset, and it has no room for the
//! code.

use serde_json::Value;

use crate::config::FeedConfig;
use crate::json::typed::{FromJson, Node, Reader};

/// A table of autonomous systems, about which nothing is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkConfig;

impl NetworkConfig {
    /// None: a document with tables is refused.
    pub(super) fn to_feed(&self) -> Option<FeedConfig> {
        None
    }
}

impl FromJson for NetworkConfig {
    fn from_json<'a>(_: &Node<'a>, _: &mut Reader<'a, '_>) -> Option<Self> {
        Some(Self)
    }

    fn to_json(&self) -> Value {
        Value::Null
    }

    fn schema() -> Value {
        Value::Null
    }
}
