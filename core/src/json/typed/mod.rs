//! Reads a JSON document into plain structs and reports everything that is wrong with it at once, each with its place.
//!
//! A derive of serde stops at the first error, and gives a position for that one only. An operator who edits a configuration
//! at night needs the whole list. So two macros describe an object or a list of words once, and make its reader and its JSON
//! Schema. serde_json does the parsing: a [`Node`] is one of its raw values.

mod node;
mod object;
mod schema;
mod values;
mod words;

use serde_json::Value;

pub(crate) use node::{Node, Reader};
pub(crate) use object::{ObjectReader, json_object};
pub(crate) use schema::{ObjectSchema, insert, of_type};
pub(crate) use values::{Dictionary, UpTo};
pub(crate) use words::{json_words, read_word, schema_of_words};

/// A type that a JSON value can be read into.
pub(crate) trait FromJson: Sized {
    /// Reads the value and reports its errors. What is valid of it is given, so that it can be checked further; `None` if
    /// nothing is.
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self>;

    /// The value as in a document, for the defaults in the schema; null if a document would leave it out.
    fn to_json(&self) -> Value;

    /// The JSON Schema (draft 2020-12) of the values that are read without error.
    fn schema() -> Value;
}
