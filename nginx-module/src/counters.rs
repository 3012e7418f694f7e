//! Memory that all processes share: the counters, the known names, and the budget for signatures. And the bugs that are counted
//! there.

use std::hash::{BuildHasher, Hasher, RandomState};

use crawlpike_core::metrics::{Counters, Event, OnceAMinute};
use crawlpike_core::{NameCache, SignatureBudget};
use zerocopy::FromBytes;

use crate::nginx::{LogLevel, MainThread};

/// The name of the memory. Counters of another version may look different.
pub(crate) const SHARED_MEMORY: &str = concat!("crawlpike_", env!("CARGO_PKG_VERSION"));

/// The memory that all processes share.
#[derive(Debug, FromBytes)]
#[repr(C)]
pub(crate) struct Shared {
    counters: Counters,
    names: NameCache,
    signatures: SignatureBudget,
}

/// Calls a function with what is known of names, if the configuration in service has `crawlpike_config`.
pub(crate) fn with_names<T>(main_thread: MainThread<'_>, call: impl FnOnce(&NameCache) -> T) -> Option<T> {
    main_thread.with_shared(|shared: &Shared| call(&shared.names))
}

/// Calls a function with the budget for signatures, if the configuration in service has `crawlpike_config`. All workers share it,
/// and a reload keeps it.
pub(crate) fn with_signature_budget<T>(
    main_thread: MainThread<'_>,
    call: impl FnOnce(&SignatureBudget) -> T,
) -> Option<T> {
    main_thread.with_shared(|shared: &Shared| {
        // The standard library's random keys of a hash are the system's.
        shared.signatures.seed(|| RandomState::new().build_hasher().finish());
        call(&shared.signatures)
    })
}

/// Calls a function with the counters, if the configuration in service has `crawlpike_config`.
pub(crate) fn with_counters<T>(main_thread: MainThread<'_>, call: impl FnOnce(&Counters) -> T) -> Option<T> {
    main_thread.with_shared(|shared: &Shared| call(&shared.counters))
}

/// Counts an event.
pub(crate) fn count_event(main_thread: MainThread<'_>, event: Event) {
    add(main_thread, event, 1);
}

/// Adds to the counter of an event.
pub(crate) fn add(main_thread: MainThread<'_>, event: Event, added: u64) {
    let _ = with_counters(main_thread, |counters| counters.add(event, added));
}

/// Counts a bug, and logs it at most once a minute and worker.
pub(crate) fn report_bug(main_thread: MainThread<'_>, consequence: &str, message: &str) {
    static LAST_LOGGED: OnceAMinute = OnceAMinute::new();
    count_event(main_thread, Event::Error);
    if LAST_LOGGED.is_due(main_thread.now()) {
        main_thread.log(LogLevel::ALERT, &format!("crawlpike: internal error, {consequence}: {message}"));
    }
}
