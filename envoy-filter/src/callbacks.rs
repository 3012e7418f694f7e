//! What the host calls: the callbacks of the Proxy-Wasm ABI 0.2.1 in which the filter has something to do.
//!
//! Only these. The host leaves out a callback that a module does not export, and one that does nothing still costs each
//! request some 2,000 instructions of Envoy: so the filter has no use for an SDK, which exports them all. They hand on to
//! the safe functions of [`contexts`].

#![expect(unsafe_code, reason = "exported symbols, and memory that the host is to fill")]

use std::alloc::{self, Layout};
use std::panic;
use std::ptr::null_mut;

use crate::contexts;
use crate::host_calls::{self, LogLevel};

/// What becomes of a request, or of a response, on its way through the filters.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum Action {
    Continue = 0,
    /// It ends here: the filter has answered.
    Pause = 1,
}

// SAFETY: the names of all these are those of the ABI, and nobody else defines them.

#[unsafe(no_mangle)]
extern "C" fn proxy_abi_version_0_2_1() {}

/// Comes before all others, once in a virtual machine.
#[unsafe(no_mangle)]
extern "C" fn _initialize() {
    #[cfg(target_os = "wasi")]
    {
        unsafe extern "C" {
            fn __wasm_call_ctors();
        }
        // SAFETY: the linker makes it, and it is called once, before all other code.
        unsafe { __wasm_call_ctors() };
    }
    panic::set_hook(Box::new(|panic| {
        host_calls::log(LogLevel::Critical, &format!("crawlward: internal error: {panic}"));
    }));
}

/// Memory for what a host call returns; [`host_calls`] frees it. Without memory the host call fails.
#[unsafe(no_mangle)]
extern "C" fn proxy_on_memory_allocate(size: usize) -> *mut u8 {
    match Layout::array::<u8>(size) {
        // SAFETY: the layout is of more than no bytes.
        Ok(layout) if size > 0 => unsafe { alloc::alloc(layout) },
        _ => null_mut(),
    }
}

/// A parent of 0 is none: the context is a plugin's; else it is a stream's.
#[unsafe(no_mangle)]
extern "C" fn proxy_on_context_create(context: u32, parent: u32) {
    contexts::create(context, parent);
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_delete(context: u32) {
    contexts::delete(context);
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_configure(context: u32, size: usize) -> bool {
    contexts::configure(context, size)
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_tick(context: u32) {
    contexts::tick(context);
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_request_headers(context: u32, _headers: usize, _is_end_of_stream: bool) -> Action {
    contexts::request(context)
}

/// Comes for Envoy's own responses and for ours, too; but not for those of filters before this one, which sees neither
/// those requests nor the responses to them.
#[unsafe(no_mangle)]
extern "C" fn proxy_on_response_headers(context: u32, _headers: usize, _is_end_of_stream: bool) -> Action {
    contexts::response(context);
    Action::Continue
}
