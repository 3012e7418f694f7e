//! The calls from nginx while it reads a configuration.

use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use ngx::core::{NGX_CONF_ERROR, NGX_CONF_OK, Status};
use ngx::ffi::{
    NGX_HTTP_LOC_CONF_OFFSET, NGX_HTTP_MAIN_CONF_OFFSET, ngx_command_t, ngx_conf_t, ngx_http_core_loc_conf_t,
    ngx_http_module_t, ngx_int_t, ngx_module_t, ngx_str_t,
};
use ngx::http::{
    HttpModule, HttpModuleConfExt, HttpModuleLocationConf, HttpModuleMainConf, Merge, NgxHttpCoreModule,
};

use super::phases;
use crate::nginx::conf::Configuration;
use crate::nginx::directive::{Directive, Setter};
use crate::nginx::main_conf::{MainSlot, main_conf};
use crate::nginx::module::Module;
use crate::nginx::panics::guard;
use crate::nginx::pool;
use crate::nginx::types::Exported;
use crate::nginx::zone::Zone;

/// The calls from nginx while it reads a configuration, in the form in which `ngx` describes them. The trait's own functions
/// don't catch panics.
struct Http<M>(PhantomData<M>);

// SAFETY: `create_main_conf` makes this type.
unsafe impl<M: Module + Exported> HttpModuleMainConf for Http<M> {
    type MainConf = MainSlot<M>;
}

// SAFETY: `create_loc_conf` makes this type.
unsafe impl<M: Module + Exported> HttpModuleLocationConf for Http<M> {
    type LocationConf = M::Location<'static>;
}

impl<M: Module + Exported> HttpModule for Http<M> {
    fn module() -> &'static ngx_module_t {
        M::ngx_module()
    }

    unsafe extern "C" fn preconfiguration(cf: *mut ngx_conf_t) -> ngx_int_t {
        // SAFETY: nginx calls this in its main thread, with the configuration that it reads.
        unsafe { guard::<M, _>(Status::NGX_ERROR, |_| phases::add_variables::<M>(cf)) }.into()
    }

    unsafe extern "C" fn postconfiguration(cf: *mut ngx_conf_t) -> ngx_int_t {
        // SAFETY: nginx calls this in its main thread, with the configuration that it reads.
        unsafe {
            guard::<M, _>(Status::NGX_ERROR, |main_thread| {
                if let Some(main) = main_conf::<M>(&*cf) {
                    let configuration = Configuration::new(NonNull::new_unchecked(cf), main_thread, M::NAME);
                    M::on_configuration(&main.conf, &configuration);
                }
                phases::add_handlers::<M>(cf, main_thread)
            })
        }
        .into()
    }

    unsafe extern "C" fn create_main_conf(cf: *mut ngx_conf_t) -> *mut c_void {
        // SAFETY: nginx calls this in its main thread, with the configuration that it reads, whose pool is live.
        let conf = unsafe { guard::<M, _>(None, |_| pool::keep((*cf).pool, MainSlot::<M>::default)) };
        conf.map_or(ptr::null_mut(), |conf| conf.as_ptr().cast())
    }

    unsafe extern "C" fn create_loc_conf(cf: *mut ngx_conf_t) -> *mut c_void {
        // SAFETY: nginx calls this in its main thread, with the configuration that it reads, whose pool is live.
        let conf =
            unsafe { guard::<M, _>(None, |_| pool::keep((*cf).pool, M::Location::<'static>::default)) };
        conf.map_or(ptr::null_mut(), |conf| conf.as_ptr().cast())
    }

    unsafe extern "C" fn merge_loc_conf(
        cf: *mut ngx_conf_t,
        prev: *mut c_void,
        conf: *mut c_void,
    ) -> *mut c_char {
        // SAFETY: nginx calls this in its main thread, with the configuration that it reads. `create_loc_conf` made both
        // locations' configurations, which are different ones, and nobody else uses them or the main configuration
        // meanwhile.
        unsafe {
            guard::<M, _>(NGX_CONF_ERROR, |main_thread| {
                let configuration = Configuration::new(NonNull::new_unchecked(cf), main_thread, M::NAME);
                let (outer, inner) = (&*prev.cast::<M::Location<'_>>(), &mut *conf.cast());
                if let Err(error) = Merge::merge(inner, outer) {
                    configuration.error(&error.to_string());
                    return NGX_CONF_ERROR;
                }
                let checked = main_conf::<M>(&*cf).map(|main| M::check(inner, &main.conf, &configuration));
                if let Some(Err((position, message))) = checked {
                    configuration.error_at(&position, &message);
                    return NGX_CONF_ERROR;
                }
                NGX_CONF_OK
            })
        }
    }
}

/// The context of a module.
pub(crate) const fn context<M: Module + Exported>() -> ngx_http_module_t {
    ngx_http_module_t {
        preconfiguration: Some(Http::<M>::preconfiguration),
        postconfiguration: Some(Http::<M>::postconfiguration),
        create_main_conf: Some(Http::<M>::create_main_conf),
        init_main_conf: None,
        create_srv_conf: None,
        merge_srv_conf: None,
        create_loc_conf: Some(Http::<M>::create_loc_conf),
        merge_loc_conf: Some(Http::<M>::merge_loc_conf),
    }
}

/// The commands of a module: one for each directive, and an empty one at the end.
#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it")]
pub(crate) const fn commands<M: Module + Exported, const N: usize>() -> [ngx_command_t; N] {
    let mut commands = [ngx_command_t::empty(); N];
    let mut index = 0;
    while index < M::DIRECTIVES.len() {
        let directive = &M::DIRECTIVES[index];
        commands[index] = ngx_command_t {
            name: ngx_str_t {
                len: directive.name.count_bytes(),
                data: directive.name.as_ptr().cast_mut().cast(),
            },
            type_: directive.flags(),
            set: Some(set_directive::<M>),
            conf: match directive.set {
                Setter::Main(_) => NGX_HTTP_MAIN_CONF_OFFSET,
                Setter::Location(_) => NGX_HTTP_LOC_CONF_OFFSET,
            },
            offset: 0,
            post: ptr::from_ref(directive).cast_mut().cast(),
        };
        index += 1;
    }
    commands
}

unsafe extern "C" fn set_directive<M: Module + Exported>(
    cf: *mut ngx_conf_t,
    command: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: nginx calls this in its main thread, with the configuration that it reads, and with a command that `commands`
    // made of a static directive. `create_main_conf` or `create_loc_conf` made the `conf` that the command asks for, and
    // nobody else uses it meanwhile.
    unsafe {
        guard::<M, _>(NGX_CONF_ERROR, |main_thread| {
            let directive = &*(*command).post.cast::<Directive<M>>();
            let configuration = Configuration::new(NonNull::new_unchecked(cf), main_thread, M::NAME);
            let set = match directive.set {
                Setter::Main(set) => set(&mut (*conf.cast::<MainSlot<M>>()).conf, &configuration),
                Setter::Location(set) => set(&mut *conf.cast(), &configuration),
            };
            match set.and_then(|()| provide(directive, cf)) {
                Ok(()) => {
                    if let (Some(main), Ok(name)) = (main_conf::<M>(&*cf), directive.name.to_str()) {
                        M::on_directive(&main.conf, name, configuration.position());
                    }
                    NGX_CONF_OK
                }
                Err(message) => {
                    configuration.error(&message);
                    NGX_CONF_ERROR
                }
            }
        })
    }
}

/// Does what a directive asks for beside its setter.
///
/// # Safety
///
/// nginx is reading the configuration `cf`, and this directive of it.
unsafe fn provide<M: Module + Exported>(directive: &Directive<M>, cf: *mut ngx_conf_t) -> Result<(), String> {
    // SAFETY: nobody changes the main configuration meanwhile. The location configuration of nginx's core module has this
    // type.
    unsafe {
        if let Some(name) = directive.shared_memory
            && let Some(main) = main_conf::<M>(&*cf)
        {
            let zone = Zone::request::<M>(cf, name);
            main.zone.set(Some(zone.ok_or_else(|| format!("cannot get shared memory \"{name}\""))?));
        }
        if directive.has_content
            && let Some(core) =
                (*cf).http_location_conf_unchecked::<ngx_http_core_loc_conf_t>(NgxHttpCoreModule::module())
        {
            (*core.as_ptr()).handler = Some(phases::on_content::<M>);
        }
    }
    Ok(())
}
