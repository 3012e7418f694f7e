//! The bytes of logs: which files, what they are compressed with, and where their lines end.

mod chunks;
mod open;
mod sources;
mod stop;

pub(crate) use chunks::{Chunk, Chunks};
pub(crate) use open::open;
pub use sources::{Source, sources};
pub use stop::Stop;
