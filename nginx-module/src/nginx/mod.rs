//! nginx's C structures behind types that can be used safely: the only place with `unsafe`.
#![expect(
    unsafe_code,
    reason = "nginx is C: its structures are read and its functions called through raw pointers"
)]

mod conf;
mod guard;
mod headers;
mod module;
mod reply;
mod request;
mod zone;

pub(crate) use conf::{ComplexValue, Configuration, LogLevel, Place, is_config_test};
pub(crate) use guard::Seldom;
pub(crate) use request::HttpRequest;
pub(crate) use zone::{Zone, with_counters};
