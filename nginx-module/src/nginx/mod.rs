//! nginx's API in safe Rust, on top of `ngx`. Nothing in this folder knows Crawlpike, and no other has `unsafe`.
//!
//! A module is a type that implements [`Module`]. Its functions receive handles ([`Request`], [`Configuration`]) that live as
//! long as nginx's call and can't be used for more than nginx allows at that time: what ends a request consumes the handle, and
//! what belongs to the main thread takes a [`MainThread`].
#![expect(
    unsafe_code,
    reason = "nginx is C: its structures are read and its functions called through raw pointers"
)]

mod answer;
mod body;
mod chain;
mod conf;
mod directive;
mod entries;
pub(crate) mod export;
mod head;
mod headers;
mod log;
mod main_conf;
mod main_thread;
mod memory;
mod module;
mod names;
mod panics;
mod pool;
mod request;
mod request_bits;
mod thread;
mod threads;
mod timer;
mod types;
mod worker_user;
mod zone;

pub(crate) use answer::{Answered, Response};
pub(crate) use body::Body;
pub(crate) use conf::{ComplexValue, Configuration, Position, Purpose};
pub(crate) use directive::{Context, Directive};
pub(crate) use export::http_module;
pub(crate) use headers::{HeaderName, NoRoom};
pub(crate) use log::LogLevel;
pub(crate) use main_thread::MainThread;
pub(crate) use memory::{TrimAfter, trim};
pub(crate) use module::{Module, Task, Worker};
pub(crate) use names::{NameAnswer, NameQuestion};
pub(crate) use ngx::http::{Merge, MergeConfigError};
pub(crate) use panics::PanicHandler;
pub(crate) use request::{LocationId, Request};
pub(crate) use request_bits::FromCache;
pub(crate) use thread::{Background, beside_the_heap};
pub(crate) use types::ModuleTypes;
pub(crate) use worker_user::WorkerUser;
