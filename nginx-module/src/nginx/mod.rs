//! nginx's C structures behind types that can be used safely: the only place with `unsafe`.
#![expect(
    unsafe_code,
    reason = "nginx is C: its structures are read and its functions called through raw pointers"
)]

mod background;
mod bits;
mod conf;
mod filter;
mod guard;
mod headers;
mod memory;
mod module;
mod reply;
mod request;
mod timer;
mod zone;

pub(crate) use background::Background;
pub(crate) use conf::{ComplexValue, Configuration, LogLevel, Place, Purpose, log};
pub(crate) use guard::internal_error;
pub(crate) use request::HttpRequest;
pub(crate) use timer::Timer;
pub(crate) use zone::{Zone, with_counters};
