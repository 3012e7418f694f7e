//! Panics on demand, at each boundary between a server and a gate: part of the gates that are built with `faults-for-tests`.

use std::ffi::{CStr, c_char, c_int};

/// `FAULTS_PANIC` in `faults.h`.
const PANIC: c_int = 8;
const NAME: &CStr = c"panic";

unsafe extern "C" {
    fn faults_due(kind: c_int, name: *const c_char) -> c_int;
}

/// As [`crawlpike_files::catch`].
#[expect(clippy::panic, reason = "that is what the feature is for")]
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    crawlpike_files::catch(|| {
        // SAFETY: any thread may call the function, which reads the name.
        if unsafe { faults_due(PANIC, NAME.as_ptr()) } != 0 {
            panic!("a plan asked for it");
        }
        work()
    })
}
