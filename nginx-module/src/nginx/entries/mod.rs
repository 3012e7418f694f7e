//! The functions that nginx calls, for any module. No panic leaves them.

mod configuration;
mod cycle;
mod phases;

use ngx::ffi::{NGX_HTTP_MODULE, ngx_command_t, ngx_http_module_t, ngx_module_t, ngx_uint_t};

pub(crate) use configuration::{commands, context};

use super::module::Module;
use super::types::Exported;

/// A module with the context and commands that were made for it.
pub(crate) const fn module<M: Module + Exported>(
    context: *const ngx_http_module_t,
    commands: *mut ngx_command_t,
) -> ngx_module_t {
    ngx_module_t {
        ctx: context.cast_mut().cast(),
        commands,
        type_: NGX_HTTP_MODULE as ngx_uint_t,
        init_module: Some(cycle::init_module::<M>),
        init_process: Some(cycle::init_process::<M>),
        ..ngx_module_t::default()
    }
}
