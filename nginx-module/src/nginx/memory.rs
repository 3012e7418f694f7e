//! Memory that the C library keeps although it is free.

/// Returns free memory to the system.
///
/// glibc keeps what was freed. With 300,000 prefixes, a worker that refreshes its ruleset would keep 50 MiB of its own. With
/// this it keeps 15, at times 23 because glibc does not trim the end of a thread's heap. An allocator that maps large blocks
/// would keep 12.5 at all times, and peak at 45 MiB instead of 62, but take a tenth more processor time. The page
/// `docs/benchmarks.md` has the measurement.
pub(crate) fn trim() {
    // Other C libraries do so by themselves, or have no such function.
    #[cfg(target_env = "gnu")]
    // SAFETY: glibc locks its heaps while it works on them.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Calls [`trim`] when it is dropped. As the last field of a value, it is dropped after the others.
#[derive(Debug)]
pub(crate) struct TrimAfter;

impl Drop for TrimAfter {
    fn drop(&mut self) {
        trim();
    }
}
