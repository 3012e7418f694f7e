//! The part of Envoy's ABI of dynamic modules that the module uses: types, callbacks, and their meanings.
//!
//! Released functions of the ABI stay as they are; changes come as functions of another name. So one module works with several
//! versions of Envoy: it looks up each callback by its name, and reports those that are missing.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// The version of the ABI that these declarations follow.
pub(super) const VERSION: &CStr = c"v0.2.0";

/// Envoy's object that belongs to a hook: a configuration, a stream, or a scheduler.
pub(crate) type EnvoyPtr = *mut c_void;

/// An object of the module that Envoy keeps and passes to hooks.
pub(crate) type ModulePtr = *mut c_void;

/// Bytes in the memory of Envoy or of the module. Those of Envoy are valid until the hook returns, or changes the object from
/// which they were read. The pointer may be null if there are no bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Buffer {
    pub(super) data: *const c_char,
    pub(super) length: usize,
}

impl Buffer {
    /// No bytes. As the value of a header, it removes the header.
    pub(super) const NULL: Self = Self { data: ptr::null(), length: 0 };

    pub(super) const fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr().cast(), length: bytes.len() }
    }
}

/// A line of headers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Header {
    pub(super) name: Buffer,
    pub(super) value: Buffer,
}

/// Which headers a callback is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum HeaderKind {
    Request = 0,
    RequestTrailers = 1,
    Response = 2,
    ResponseTrailers = 3,
}

/// The attribute `source.address`, as `ADDRESS:PORT`.
pub(super) const SOURCE_ADDRESS: u32 = 24;

/// The result of a metric's callback that was carried out.
pub(super) const METRIC_OK: u32 = 0;

/// The result of the callback for a request to a cluster, if the request was sent.
pub(super) const CALLOUT_SENT: u32 = 0;

/// The result of a request to a cluster, if it was answered.
pub(super) const CALLOUT_ANSWERED: u32 = 0;

/// The life of an object of the filter state that lives as long as the request, internal redirects included.
pub(super) const LIFE_OF_REQUEST: u32 = 1;

/// Frees an object of the filter state.
pub(super) type Destructor = unsafe extern "C" fn(*mut c_void);

/// The results of hooks for the headers of a request or response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum HeadersStatus {
    Continue = 0,
    StopIteration = 1,
    /// As long as the request waits, no hook of the stream is called for its body.
    StopAllIterationAndWatermark = 4,
}

/// The results of hooks for the body of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum BodyStatus {
    /// The bytes go on, and so does the head if it was held back.
    Continue = 0,
    /// The module has taken the bytes. Envoy keeps none of them.
    StopIterationNoBuffer = 3,
}

/// Which bytes of a body a callback is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum BodyKind {
    /// Those of a response that have just come. Only in the hook for bodies.
    ReceivedResponse = 2,
    /// Those of a response that Envoy keeps until it goes on.
    BufferedResponse = 3,
}

macro_rules! callbacks {
    (
        required {
            $($(#[$about:meta])* $name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*
        }
        optional {
            $($(#[$optional_about:meta])* $optional:ident: fn($($optional_argument:ty),*) $(-> $optional_result:ty)?;)*
        }
    ) => {
        /// The functions of Envoy that a module calls. Names are without the prefix.
        #[derive(Debug)]
        pub(super) struct Callbacks {
            $($(#[$about])* pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            $($(#[$optional_about])*
            pub(super) $optional: Option<unsafe extern "C" fn($($optional_argument),*) $(-> $optional_result)?>,)*
        }

        impl Callbacks {
            /// Looks up each callback in the process.
            ///
            /// # Errors
            ///
            /// The names of those that are missing and required.
            pub(super) fn find() -> Result<Self, Vec<&'static str>> {
                let mut missing = Vec::new();
                $(let $name = find(symbol!($name));
                if $name.is_null() {
                    missing.push(stringify!($name));
                })*
                $(let $optional = find(symbol!($optional));)*
                if !missing.is_empty() {
                    return Err(missing);
                }
                // SAFETY: Envoy's symbols of these names are functions of these types, in every version of the ABI that has them,
                // and none of the required ones is null. A null function pointer is `None`.
                unsafe {
                    Ok(Self {
                        $($name: std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>($name),)*
                        $($optional: std::mem::transmute::<
                            *mut c_void,
                            Option<unsafe extern "C" fn($($optional_argument),*) $(-> $optional_result)?>,
                        >($optional),)*
                    })
                }
            }
        }
    };
}

macro_rules! symbol {
    ($name:ident) => {
        const { symbol_of(concat!("envoy_dynamic_module_callback_", stringify!($name), "\0")) }
    };
}

callbacks! {
    required {
        /// Returns true if messages of a level are logged.
        log_enabled: fn(u32) -> bool;
        /// Writes a message to Envoy's log; from any thread.
        log: fn(u32, Buffer);
        /// The number of header lines.
        http_get_headers_size: fn(EnvoyPtr, HeaderKind) -> usize;
        /// Writes all header lines to an array that has room for them. Names are in lower case. False: there are no headers.
        http_get_headers: fn(EnvoyPtr, HeaderKind, *mut Header) -> bool;
        /// Replaces all lines of a header by one; removes the header if the value is null.
        http_set_header: fn(EnvoyPtr, HeaderKind, Buffer, Buffer) -> bool;
        /// Adds a line of a header.
        http_add_header: fn(EnvoyPtr, HeaderKind, Buffer, Buffer) -> bool;
        /// An attribute of the stream by its number; false if the stream has none.
        http_filter_get_attribute_string: fn(EnvoyPtr, u32, *mut Buffer) -> bool;
        /// Answers a request: the status, the headers, the body, and the details for the access log. No more hooks for headers are
        /// called for the stream, and the current one has to return [`HeadersStatus::StopIteration`].
        http_send_response: fn(EnvoyPtr, u32, *const Header, usize, Buffer, Buffer);
        /// Sets a string in the filter state, which lives as long as the stream.
        http_set_filter_state_bytes: fn(EnvoyPtr, Buffer, Buffer) -> bool;
        /// Sets a string in the dynamic metadata: namespace, key and value.
        http_set_dynamic_metadata_string: fn(EnvoyPtr, Buffer, Buffer, Buffer);
        /// The module's object of the configuration for the route, the virtual host or the route table, whichever is most
        /// specific; null if there is none.
        get_most_specific_route_config: fn(EnvoyPtr) -> ModulePtr;
        /// Has Envoy choose the route again, by the headers as they are now.
        http_clear_route_cache: fn(EnvoyPtr);
        /// The number of pieces of a body.
        http_get_body_chunks_size: fn(EnvoyPtr, BodyKind) -> usize;
        /// Writes the pieces of a body to an array that has room for them. False: there is no body.
        http_get_body_chunks: fn(EnvoyPtr, BodyKind, *mut Buffer) -> bool;
        /// Removes bytes from the start of a body, at most all.
        http_drain_body: fn(EnvoyPtr, BodyKind, usize) -> bool;
        /// Adds bytes to the end of a body.
        http_append_body: fn(EnvoyPtr, BodyKind, Buffer) -> bool;
        /// Defines a counter by its name and the names of its labels, and writes its number. Only while a configuration is made.
        http_filter_config_define_counter: fn(EnvoyPtr, Buffer, *const Buffer, usize, *mut usize) -> u32;
        /// The same for a gauge.
        http_filter_config_define_gauge: fn(EnvoyPtr, Buffer, *const Buffer, usize, *mut usize) -> u32;
        /// Adds to a counter with the values of its labels, in a hook of a stream.
        http_filter_increment_counter: fn(EnvoyPtr, usize, *const Buffer, usize, u64) -> u32;
        /// Sets a gauge with the values of its labels, in a hook of a stream.
        http_filter_set_gauge: fn(EnvoyPtr, usize, *const Buffer, usize, u64) -> u32;
        /// A scheduler for a configuration, which the module has to delete.
        http_filter_config_scheduler_new: fn(EnvoyPtr) -> EnvoyPtr;
        /// Has Envoy call the configuration's hook for events, in the main thread, with this number; from any thread. Nothing
        /// happens if the configuration is gone by then.
        http_filter_config_scheduler_commit: fn(EnvoyPtr, u64);
        /// Deletes a scheduler.
        http_filter_config_scheduler_delete: fn(EnvoyPtr);
        /// Sends a request to a cluster: writes its number, and takes the name of the cluster, the headers, the body, and a time-out
        /// in milliseconds. Only in the main thread. The hook for its answer may run before this returns, and does not run if this
        /// fails.
        http_filter_config_http_callout: fn(EnvoyPtr, *mut u64, Buffer, *const Header, usize, Buffer, u64) -> u32;
        /// A scheduler for a stream, in a hook of it; the module has to delete it.
        http_filter_scheduler_new: fn(EnvoyPtr) -> EnvoyPtr;
        /// Has Envoy call the stream's hook for events, in its worker, with this number; from any thread. Nothing happens if the
        /// stream is gone by then.
        http_filter_scheduler_commit: fn(EnvoyPtr, u64);
        /// Deletes a scheduler.
        http_filter_scheduler_delete: fn(EnvoyPtr);
        /// Lets a request go on that was stopped.
        http_filter_continue_decoding: fn(EnvoyPtr);
    }
    optional {
        /// Adds to a counter with the values of its labels, in a hook of a configuration. Since Envoy 1.39.
        http_filter_config_increment_counter: fn(EnvoyPtr, usize, *const Buffer, usize, u64) -> u32;
        /// Sets a gauge with the values of its labels, in a hook of a configuration. Since Envoy 1.39.
        http_filter_config_set_gauge: fn(EnvoyPtr, usize, *const Buffer, usize, u64) -> u32;
        /// Puts an object of the module into the filter state: its key, the object, its destructor, and its life. Envoy
        /// frees it even if it returns false. Since Envoy 1.39.
        http_set_filter_state_object: fn(EnvoyPtr, Buffer, *mut c_void, Destructor, u32) -> bool;
        /// An object of the module in the filter state by its key; null if there is none. Since Envoy 1.39.
        http_get_filter_state_object: fn(EnvoyPtr, Buffer) -> *mut c_void;
    }
}

/// The name of a symbol, which ends with a NUL. The name of any other text is empty, and no symbol has it.
const fn symbol_of(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(symbol) => symbol,
        Err(_) => c"",
    }
}

/// A symbol of the process, by its name; null if there is none.
fn find(symbol: &CStr) -> *mut c_void {
    // SAFETY: the name ends with a NUL.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) }
}
