//! The types of a module that nginx keeps values of.

use ngx::ffi::ngx_module_t;
use ngx::http::Merge;
use zerocopy::FromBytes;

use super::body::Body;
use super::names::NameQuestion;
use super::panics::PanicHandler;

/// The types of a module.
pub(crate) trait ModuleTypes: PanicHandler + Sized + 'static {
    /// Its name, with which messages about its configuration start.
    const NAME: &'static str;
    /// Its configuration of the `http` block.
    type Main: Default;
    /// Its configuration of an `http`, `server` or `location` block, in a cycle that lives for `'c`.
    type Location<'c>: Default + Merge;
    /// The content of one of its variables.
    type Variable: 'static;
    /// The state that it keeps of a client's request.
    type RequestState: 'static;
    /// The collector of a response's body.
    type Body: Body;
    /// The question that a request waits for in the pre-access phase.
    type Question: NameQuestion;
    /// The memory that all processes share. Any bytes are a valid value, so it has no pointers, which mean nothing in another
    /// process.
    type Shared: FromBytes + Sync + 'static;
}

/// A module that `http_module!` exports.
///
/// # Safety
///
/// The functions that nginx calls for this `ngx_module_t` are those that `entries` makes for this very type.
pub(crate) unsafe trait Exported: ModuleTypes {
    fn ngx_module() -> &'static ngx_module_t;
}
