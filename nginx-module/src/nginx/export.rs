//! The symbols by which nginx finds a module in a library.

pub(crate) use ngx::ffi::{ngx_command_t, ngx_http_module_t, ngx_module_t};

pub(crate) use super::entries::{commands, context, module};
pub(crate) use super::module::Module;
pub(crate) use super::types::Exported;

/// Exports a module, once in a library: what nginx's own build would generate. `ngx_modules!` of `ngx` says nothing about
/// the order of modules.
macro_rules! http_module {
    ($symbol:ident: $module:ty, before [$($next:literal),+ $(,)?]) => {
        #[expect(unsafe_code, reason = "nginx finds a module by the symbols of its library")]
        mod exported {
            use std::ffi::c_char;
            use std::ptr;

            use $crate::nginx::export::{
                Exported, Module, commands, context, module, ngx_command_t, ngx_http_module_t, ngx_module_t,
            };

            static CONTEXT: ngx_http_module_t = context::<$module>();

            static mut COMMANDS: [ngx_command_t; <$module>::DIRECTIVES.len() + 1] =
                commands::<$module, { <$module>::DIRECTIVES.len() + 1 }>();

            const NAME: *const c_char = concat!(stringify!($symbol), "\0").as_ptr().cast();

            // nginx writes the place of the module in its lists there.
            #[unsafe(no_mangle)]
            static mut $symbol: ngx_module_t =
                module::<$module>(&raw const CONTEXT, (&raw mut COMMANDS).cast());

            #[unsafe(no_mangle)]
            static mut ngx_modules: [*const ngx_module_t; 2] = [&raw const $symbol, ptr::null()];

            #[unsafe(no_mangle)]
            static mut ngx_module_names: [*const c_char; 2] = [NAME, ptr::null()];

            // The place of the module in nginx's list.
            #[unsafe(no_mangle)]
            static mut ngx_module_order: [*const c_char; [$($next),+].len() + 2] =
                [NAME, $( concat!($next, "\0").as_ptr().cast(), )+ ptr::null()];

            // SAFETY: the context and the commands were made for this type.
            unsafe impl Exported for $module {
                fn ngx_module() -> &'static ngx_module_t {
                    // SAFETY: nginx writes to it only while it loads the module and while it counts its modules.
                    unsafe { &*&raw const $symbol }
                }
            }
        }
    };
}

pub(crate) use http_module;
