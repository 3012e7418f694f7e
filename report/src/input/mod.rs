//! The bytes of logs: which files, what they are compressed with, and where their lines end.

mod chunks;
mod open;
mod sources;

pub use chunks::{Chunk, Chunks, LONGEST};
pub(crate) use open::open;
pub use sources::{Source, sources};
