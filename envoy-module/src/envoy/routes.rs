//! The module's objects for routes, by their addresses.
//!
//! Envoy passes a stream the object that belongs to the filter's name in the route's configuration. An operator can name another
//! module there, or another file of this one, so that an address proves nothing until it is found here.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{PoisonError, RwLock};

use super::abi::ModulePtr;

/// The addresses of the objects that Envoy keeps.
static KEPT: RwLock<BTreeSet<usize>> = RwLock::new(BTreeSet::new());

/// The number of times that [`KEPT`] has changed.
static CHANGES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The last address that was found in [`KEPT`], and the number of changes before that.
    static FOUND: Cell<(usize, u64)> = const { Cell::new((0, 0)) };
}

/// Notes an object before Envoy gets it.
pub(super) fn add(route: ModulePtr) {
    change(|kept| kept.insert(route.addr()));
}

/// Forgets an object before it is dropped. Returns false if it is not known.
pub(super) fn remove(route: ModulePtr) -> bool {
    change(|kept| kept.remove(&route.addr()))
}

fn change(how: impl FnOnce(&mut BTreeSet<usize>) -> bool) -> bool {
    let mut kept = KEPT.write().unwrap_or_else(PoisonError::into_inner);
    let is_changed = how(&mut kept);
    CHANGES.fetch_add(1, Release);
    is_changed
}

/// Returns true if there has ever been an object. Most configurations have none, and need not ask Envoy for each request.
pub(super) fn ever_existed() -> bool {
    CHANGES.load(Acquire) != 0
}

/// Returns true if the object is one of this module that Envoy keeps. Takes the lock only after a change.
pub(super) fn has(route: ModulePtr) -> bool {
    let looked_for = (route.addr(), CHANGES.load(Acquire));
    if FOUND.get() == looked_for {
        return true;
    }
    let is_kept = KEPT.read().unwrap_or_else(PoisonError::into_inner).contains(&looked_for.0);
    if is_kept {
        FOUND.set(looked_for);
    }
    is_kept
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn an_object_is_known_from_its_making_to_its_end() {
        let (ours, other) = (ptr::without_provenance_mut(0x10), ptr::without_provenance_mut(0x20));
        assert!(!has(ours));
        add(ours);
        assert!(ever_existed() && has(ours) && has(ours) && !has(other));
        assert!(!remove(other) && remove(ours) && !remove(ours));
        assert!(!has(ours) && !remove(ptr::null_mut()));
    }
}
