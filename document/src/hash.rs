//! Hashes that no page can foresee.

use std::hash::{BuildHasher, RandomState};

use foldhash::fast::FixedState;

/// A hasher with a seed of its own. The one that foldhash makes itself needs a clock, which Envoy may refuse a Wasm filter.
pub(crate) fn seeded() -> FixedState {
    FixedState::with_seed(RandomState::new().hash_one(()))
}
