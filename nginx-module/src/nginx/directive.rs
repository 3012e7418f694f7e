//! A module's table of directives.

use std::ffi::CStr;

use ngx::ffi::{
    NGX_CONF_NOARGS, NGX_CONF_TAKE1, NGX_HTTP_LOC_CONF, NGX_HTTP_MAIN_CONF, NGX_HTTP_SRV_CONF, ngx_uint_t,
};

use super::conf::Configuration;
use super::types::ModuleTypes;

/// A block in which a directive may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Context {
    Http,
    Server,
    Location,
}

/// A function that sets what a directive says. The error is for the operator.
pub(crate) enum Setter<M: ModuleTypes> {
    /// In the configuration of the `http` block.
    Main(for<'c> fn(&mut M::Main, &Configuration<'c>) -> Result<(), String>),
    /// In the configuration of the block that has the directive.
    Location(for<'c> fn(&mut M::Location<'c>, &Configuration<'c>) -> Result<(), String>),
}

/// A directive.
pub(crate) struct Directive<M: ModuleTypes> {
    pub(super) name: &'static CStr,
    contexts: &'static [Context],
    has_argument: bool,
    pub(super) set: Setter<M>,
    /// The name of the shared memory that it asks for.
    pub(super) shared_memory: Option<&'static str>,
    /// True if the module answers the requests for its location.
    pub(super) has_content: bool,
}

impl<M: ModuleTypes> Directive<M> {
    /// A directive of the `http` block, with one argument.
    pub(crate) const fn main(
        name: &'static CStr,
        set: for<'c> fn(&mut M::Main, &Configuration<'c>) -> Result<(), String>,
    ) -> Self {
        Self::new(name, &[Context::Http], Setter::Main(set))
    }

    /// A directive of a location and of the blocks around it, with one argument.
    pub(crate) const fn location(
        name: &'static CStr,
        contexts: &'static [Context],
        set: for<'c> fn(&mut M::Location<'c>, &Configuration<'c>) -> Result<(), String>,
    ) -> Self {
        Self::new(name, contexts, Setter::Location(set))
    }

    const fn new(name: &'static CStr, contexts: &'static [Context], set: Setter<M>) -> Self {
        Self { name, contexts, has_argument: true, set, shared_memory: None, has_content: false }
    }

    /// The directive without an argument.
    pub(crate) const fn without_argument(mut self) -> Self {
        self.has_argument = false;
        self
    }

    /// The directive with memory of this name, which all processes share.
    pub(crate) const fn with_shared_memory(mut self, name: &'static str) -> Self {
        self.shared_memory = Some(name);
        self
    }

    /// The directive with answers by the module to requests for its location.
    pub(crate) const fn with_content(mut self) -> Self {
        self.has_content = true;
        self
    }

    /// The blocks that may have it, and the number of its arguments, as nginx's `type` of a command.
    pub(super) const fn flags(&self) -> ngx_uint_t {
        let mut flags = if self.has_argument { NGX_CONF_TAKE1 } else { NGX_CONF_NOARGS };
        let mut contexts = self.contexts;
        while let [context, rest @ ..] = contexts {
            flags |= match context {
                Context::Http => NGX_HTTP_MAIN_CONF,
                Context::Server => NGX_HTTP_SRV_CONF,
                Context::Location => NGX_HTTP_LOC_CONF,
            };
            contexts = rest;
        }
        flags as ngx_uint_t
    }
}
