//! Style sheets, as far as they hide text: a tokenizer for declarations and simple selectors.
//!
//! All readers are linear in the bytes they read, and a sheet keeps a bounded number of rules.

mod changes;
mod color;
mod declarations;
mod look;
mod rest;
mod selector;
mod sheet;
mod value;

pub(crate) use self::changes::Changes;
pub(crate) use self::color::Color;
pub(crate) use self::declarations::Style;
pub(crate) use self::look::{FontSize, Look, Sight};
pub(crate) use self::selector::Name;
pub(crate) use self::sheet::{KnownNames, Sheet};
