//! The memory of a worker.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use crawlpike_envoy_gate::Recent;

use crate::source::Loaded;
use crate::statistics::RecentCounters;

/// The values of the last requests of a worker, for one ruleset.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) requests: Recent,
    pub(crate) counters: RecentCounters,
}

/// The most rulesets for which a worker remembers anything.
const REMEMBERED: usize = 8;

thread_local! {
    static MEMORIES: RefCell<Vec<(Weak<Loaded>, Rc<Memory>)>> = const { RefCell::new(Vec::new()) };
}

impl Memory {
    /// That of this worker for a ruleset.
    pub(crate) fn of(loaded: &Arc<Loaded>) -> Rc<Self> {
        MEMORIES.with_borrow_mut(|memories| {
            // As long as the list has a ruleset, no other one has its address.
            let is_same = |(known, _): &&(Weak<Loaded>, _)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(loaded));
            if let Some((_, memory)) = memories.iter().find(is_same) {
                return Rc::clone(memory);
            }
            Self::start(memories, loaded)
        })
    }

    /// A new memory. It is built on the stack, in a function of its own, so that other requests do not touch as many pages of it.
    #[cold]
    #[inline(never)]
    fn start(memories: &mut Vec<(Weak<Loaded>, Rc<Self>)>, loaded: &Arc<Loaded>) -> Rc<Self> {
        memories.retain(|(known, _)| known.strong_count() > 0);
        if memories.len() == REMEMBERED {
            memories.remove(0);
        }
        let memory = Rc::<Self>::default();
        memories.push((Arc::downgrade(loaded), Rc::clone(&memory)));
        memory
    }
}
