//! What nginx finds when it loads the module, and the functions that it calls.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;
use std::ptr;

use ngx::ffi::{
    NGX_CONF_NOARGS, NGX_CONF_TAKE1, NGX_DECLINED, NGX_DONE, NGX_ERROR, NGX_HTTP_INTERNAL_SERVER_ERROR,
    NGX_HTTP_LOC_CONF, NGX_HTTP_MAIN_CONF, NGX_HTTP_MODULE, NGX_HTTP_SRV_CONF, NGX_HTTP_VAR_NOCACHEABLE,
    NGX_OK, ngx_array_push, ngx_command_t, ngx_conf_t, ngx_cycle_t, ngx_http_add_variable,
    ngx_http_conf_ctx_t, ngx_http_core_main_conf_t, ngx_http_core_module, ngx_http_handler_pt,
    ngx_http_module, ngx_http_module_t, ngx_http_phases, ngx_http_phases_NGX_HTTP_ACCESS_PHASE,
    ngx_http_phases_NGX_HTTP_LOG_PHASE, ngx_http_phases_NGX_HTTP_POST_READ_PHASE, ngx_http_request_t,
    ngx_int_t, ngx_module_t, ngx_pool_cleanup_add, ngx_pool_t, ngx_str_t, ngx_uint_t, ngx_variable_value_t,
};

use super::conf::{CONF_ERROR, CONF_OK, Configuration};
use super::filter;
use super::guard::guard;
use super::headers;
use super::request::HttpRequest;
use super::timer;
use super::zone::take_into_service;
use crate::directives::{LocationConf, MainConf};
use crate::gate::{self, Next};
use crate::measures;
use crate::variables::VARIABLES;

/// Our place in nginx's arrays of configurations.
pub(super) fn module_index() -> usize {
    // SAFETY: nginx sets it when it loads the module, before any request.
    unsafe { ngx_http_crawlward_module.ctx_index }
}

/// What tells our shared memory from that of others.
pub(super) fn module_tag() -> *mut c_void {
    (&raw mut ngx_http_crawlward_module).cast()
}

/// Our configuration of the `http` block that a cycle was made with.
///
/// # Safety
///
/// The cycle's configuration was read to its end, and the cycle outlives `'c`.
pub(super) unsafe fn main_conf_of<'c>(cycle: *const ngx_cycle_t) -> Option<&'c MainConf> {
    // SAFETY: a cycle keeps one pointer a module, that of the http module being null or the context of its block.
    unsafe {
        let context = *(*cycle).conf_ctx.add(ngx_http_module.index);
        main_conf_in(context.cast())
    }
}

/// Our configuration of the `http` block.
///
/// # Safety
///
/// `context` is null or the context of the block, and `create_main_conf` ran for it.
unsafe fn main_conf_in<'c>(context: *const ngx_http_conf_ctx_t) -> Option<&'c MainConf> {
    // SAFETY: the context has one pointer an http module, at its ctx_index.
    unsafe { (*context.as_ref()?.main_conf.add(module_index())).cast::<MainConf>().as_ref() }
}

static mut COMMANDS: [ngx_command_t; 8] = [
    ngx_command_t {
        name: ngx::ngx_string!("crawlward_config"),
        type_: (NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1) as ngx_uint_t,
        set: Some(set_config),
        conf: offset_of!(ngx_http_conf_ctx_t, main_conf),
        offset: 0,
        post: ptr::null_mut(),
    },
    ngx_command_t {
        name: ngx::ngx_string!("crawlward_refresh"),
        type_: (NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1) as ngx_uint_t,
        set: Some(set_refresh),
        conf: offset_of!(ngx_http_conf_ctx_t, main_conf),
        offset: 0,
        post: ptr::null_mut(),
    },
    ngx_command_t {
        name: ngx::ngx_string!("crawlward"),
        type_: (NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF | NGX_CONF_TAKE1) as ngx_uint_t,
        set: Some(set_mode),
        conf: offset_of!(ngx_http_conf_ctx_t, loc_conf),
        offset: 0,
        post: ptr::null_mut(),
    },
    ngx_command_t {
        name: ngx::ngx_string!("crawlward_deny_status"),
        type_: (NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF | NGX_CONF_TAKE1) as ngx_uint_t,
        set: Some(set_deny_status),
        conf: offset_of!(ngx_http_conf_ctx_t, loc_conf),
        offset: 0,
        post: ptr::null_mut(),
    },
    ngx_command_t {
        name: ngx::ngx_string!("crawlward_log_level"),
        type_: (NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF | NGX_CONF_TAKE1) as ngx_uint_t,
        set: Some(set_log_level),
        conf: offset_of!(ngx_http_conf_ctx_t, loc_conf),
        offset: 0,
        post: ptr::null_mut(),
    },
    ngx_command_t {
        name: ngx::ngx_string!("crawlward_site"),
        type_: (NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF | NGX_CONF_TAKE1) as ngx_uint_t,
        set: Some(set_site),
        conf: offset_of!(ngx_http_conf_ctx_t, loc_conf),
        offset: 0,
        post: ptr::null_mut(),
    },
    ngx_command_t {
        name: ngx::ngx_string!("crawlward_status"),
        type_: (NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS) as ngx_uint_t,
        set: Some(set_status),
        conf: offset_of!(ngx_http_conf_ctx_t, loc_conf),
        offset: 0,
        post: ptr::null_mut(),
    },
    ngx_command_t::empty(),
];

static CONTEXT: ngx_http_module_t = ngx_http_module_t {
    preconfiguration: Some(add_variables),
    postconfiguration: Some(add_handlers),
    create_main_conf: Some(create_main_conf),
    init_main_conf: None,
    create_srv_conf: None,
    merge_srv_conf: None,
    create_loc_conf: Some(create_location_conf),
    merge_loc_conf: Some(merge_location_conf),
};

/// The module, by the name under which `load_module` finds it.
#[unsafe(no_mangle)]
static mut ngx_http_crawlward_module: ngx_module_t = ngx_module_t {
    ctx: (&raw const CONTEXT).cast_mut().cast(),
    commands: (&raw mut COMMANDS).cast(),
    type_: NGX_HTTP_MODULE as ngx_uint_t,
    init_module: Some(take_into_service),
    init_process: Some(on_process),
    ..ngx_module_t::default()
};

/// A process begins that has events: a worker, the manager of a cache, or the only process.
unsafe extern "C" fn on_process(cycle: *mut ngx_cycle_t) -> ngx_int_t {
    // SAFETY: nginx passes the cycle that the process is for, whose event loop is about to run.
    guard((), || unsafe { timer::start(cycle) });
    NGX_OK as ngx_int_t
}

/// The modules of this file: what nginx's own build would generate.
#[unsafe(no_mangle)]
static mut ngx_modules: [*const ngx_module_t; 2] = [&raw const ngx_http_crawlward_module, ptr::null()];

/// Their names.
#[unsafe(no_mangle)]
static mut ngx_module_names: [*const c_char; 2] = [c"ngx_http_crawlward_module".as_ptr(), ptr::null()];

/// Where nginx puts us in its list of modules: before its headers filter, so that our filter runs after that one, which
/// adds what `add_header` says.
#[unsafe(no_mangle)]
static mut ngx_module_order: [*const c_char; 3] =
    [c"ngx_http_crawlward_module".as_ptr(), c"ngx_http_headers_filter_module".as_ptr(), ptr::null()];

/// How a pool aligns what it gives (`NGX_ALIGNMENT`).
pub(super) const POOL_ALIGNMENT: usize = size_of::<usize>();

/// Puts a value into a pool that drops it when it is destroyed.
///
/// # Safety
///
/// `pool` is a live pool.
unsafe fn keep_in<T>(pool: *mut ngx_pool_t, value: T) -> *mut c_void {
    unsafe extern "C" fn drop_in_pool<T>(data: *mut c_void) {
        // SAFETY: the cleanup was made for this very value, and runs once.
        guard((), || unsafe { ptr::drop_in_place(data.cast::<T>()) });
    }

    const { assert!(align_of::<T>() <= POOL_ALIGNMENT, "a pool does not align for this type") };
    // SAFETY: the cleanup gives memory for a T, aligned for it (see above).
    unsafe {
        let Some(cleanup) = ngx_pool_cleanup_add(pool, size_of::<T>()).as_mut() else {
            return ptr::null_mut();
        };
        cleanup.data.cast::<T>().write(value);
        cleanup.handler = Some(drop_in_pool::<T>);
        cleanup.data
    }
}

unsafe extern "C" fn create_main_conf(cf: *mut ngx_conf_t) -> *mut c_void {
    // SAFETY: nginx passes the configuration that it reads.
    guard(ptr::null_mut(), || unsafe { keep_in((*cf).pool, MainConf::default()) })
}

unsafe extern "C" fn create_location_conf(cf: *mut ngx_conf_t) -> *mut c_void {
    // SAFETY: nginx passes the configuration that it reads.
    guard(ptr::null_mut(), || unsafe { keep_in((*cf).pool, LocationConf::default()) })
}

unsafe extern "C" fn merge_location_conf(
    cf: *mut ngx_conf_t,
    outer: *mut c_void,
    inner: *mut c_void,
) -> *mut c_char {
    guard(CONF_ERROR, || {
        // SAFETY: nginx passes the configuration that it reads. Both locations' were made by `create_location_conf`, and
        // are different ones.
        let (configuration, outer, inner) = unsafe {
            let inner = inner.cast::<LocationConf>().as_mut();
            (Configuration::new(cf), outer.cast::<LocationConf>().as_ref(), inner)
        };
        let (Some(configuration), Some(outer), Some(inner)) = (configuration, outer, inner) else {
            return CONF_ERROR;
        };
        // SAFETY: `cf->ctx` is the http block's context while its levels are merged, and no directive of ours is running
        // that could change our main configuration.
        let main = unsafe { main_conf_in((*cf).ctx.cast()) };
        match main.map_or(Ok(()), |main| inner.inherit(outer, main)) {
            Ok(()) => CONF_OK,
            Err((message, place)) => {
                configuration.error_at(&place, &message);
                CONF_ERROR
            }
        }
    })
}

/// Runs a directive's function on the configuration that nginx made for its level.
///
/// # Safety
///
/// `conf` is null or a `T`, to which nginx gives nobody else access meanwhile.
unsafe fn directive<T>(
    cf: *mut ngx_conf_t,
    conf: *mut c_void,
    set: impl FnOnce(&mut T, &Configuration) -> Result<(), String>,
) -> *mut c_char {
    guard(CONF_ERROR, || {
        // SAFETY: nginx passes the configuration that it reads; `conf` is the caller's promise.
        let (configuration, conf) = unsafe { (Configuration::new(cf), conf.cast::<T>().as_mut()) };
        let (Some(configuration), Some(conf)) = (configuration, conf) else {
            return CONF_ERROR;
        };
        match set(conf, &configuration) {
            Ok(()) => CONF_OK,
            Err(message) => {
                configuration.error(&message);
                CONF_ERROR
            }
        }
    })
}

unsafe extern "C" fn set_config(
    cf: *mut ngx_conf_t,
    _: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: the command names the main configuration, which `create_main_conf` made.
    unsafe { directive(cf, conf, MainConf::load) }
}

unsafe extern "C" fn set_refresh(
    cf: *mut ngx_conf_t,
    _: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: as above.
    unsafe { directive(cf, conf, MainConf::set_refresh) }
}

unsafe extern "C" fn set_mode(cf: *mut ngx_conf_t, _: *mut ngx_command_t, conf: *mut c_void) -> *mut c_char {
    // SAFETY: the command names the location configuration, which `create_location_conf` made.
    unsafe { directive(cf, conf, LocationConf::set_mode) }
}

unsafe extern "C" fn set_deny_status(
    cf: *mut ngx_conf_t,
    _: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: as above.
    unsafe { directive(cf, conf, LocationConf::set_deny_status) }
}

unsafe extern "C" fn set_log_level(
    cf: *mut ngx_conf_t,
    _: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: as above.
    unsafe { directive(cf, conf, LocationConf::set_log_level) }
}

unsafe extern "C" fn set_site(cf: *mut ngx_conf_t, _: *mut ngx_command_t, conf: *mut c_void) -> *mut c_char {
    // SAFETY: as above.
    unsafe { directive(cf, conf, LocationConf::set_site) }
}

unsafe extern "C" fn set_status(
    cf: *mut ngx_conf_t,
    _: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: as above.
    unsafe { directive(cf, conf, LocationConf::set_status) }
}

unsafe extern "C" fn add_variables(cf: *mut ngx_conf_t) -> ngx_int_t {
    guard(NGX_ERROR as ngx_int_t, || {
        for (index, variable) in VARIABLES.iter().enumerate() {
            let mut name = headers::string(variable.name.as_bytes());
            // A value can change: `realip` in a location changes the address. Our own memory of it is cheap.
            // SAFETY: nginx copies the name (it lower-cases it into its own memory); `cf` is valid.
            let added =
                unsafe { ngx_http_add_variable(cf, &raw mut name, NGX_HTTP_VAR_NOCACHEABLE as ngx_uint_t) };
            // SAFETY: null or a variable that nginx just made.
            let Some(added) = (unsafe { added.as_mut() }) else {
                return NGX_ERROR as ngx_int_t;
            };
            added.get_handler = Some(get_variable);
            added.data = index;
        }
        NGX_OK as ngx_int_t
    })
}

unsafe extern "C" fn get_variable(
    request: *mut ngx_http_request_t,
    value: *mut ngx_variable_value_t,
    index: usize,
) -> ngx_int_t {
    // SAFETY: nginx passes room for the value. What stands there if we fail is "not found".
    let Some(out) = (unsafe { value.as_mut() }) else {
        return NGX_ERROR as ngx_int_t;
    };
    let found = guard(None, || {
        // SAFETY: nginx passes the request that it evaluates the variable for.
        let request = unsafe { HttpRequest::new(request) }?;
        let text = VARIABLES.get(index).and_then(|variable| gate::variable(request, variable.value))?;
        request.keep(text.as_bytes())
    });
    let ngx_str_t { len, data } = found.unwrap_or_else(|| headers::string(b""));
    out.set_len(u32::try_from(len).unwrap_or(0));
    out.data = data;
    out.set_valid(u32::from(found.is_some()));
    out.set_not_found(u32::from(found.is_none()));
    out.set_no_cacheable(0);
    NGX_OK as ngx_int_t
}

unsafe extern "C" fn add_handlers(cf: *mut ngx_conf_t) -> ngx_int_t {
    guard(NGX_ERROR as ngx_int_t, || {
        let handlers: [(ngx_http_phases, ngx_http_handler_pt); 3] = [
            (ngx_http_phases_NGX_HTTP_POST_READ_PHASE, Some(on_read)),
            (ngx_http_phases_NGX_HTTP_ACCESS_PHASE, Some(on_access)),
            (ngx_http_phases_NGX_HTTP_LOG_PHASE, Some(on_log)),
        ];
        for (phase, handler) in handlers {
            // SAFETY: `cf->ctx` is the http block's context while its configuration is read; the core module's main
            // configuration has this type, and `handlers` is an initialised array of this type.
            let slot: Option<&mut ngx_http_handler_pt> = unsafe {
                let context = (*cf).ctx.cast::<ngx_http_conf_ctx_t>();
                let core = (*(*context).main_conf.add(ngx_http_core_module.ctx_index))
                    .cast::<ngx_http_core_main_conf_t>();
                (*core).phases.get_mut(phase as usize).and_then(|phase| {
                    ngx_array_push(&raw mut phase.handlers).cast::<ngx_http_handler_pt>().as_mut()
                })
            };
            let Some(slot) = slot else {
                return NGX_ERROR as ngx_int_t;
            };
            *slot = handler;
        }
        filter::add();
        NGX_OK as ngx_int_t
    })
}

/// The first phase, before `rewrite` and before any variable of the configuration is read.
unsafe extern "C" fn on_read(request: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx passes the request that it serves.
    guard((), || {
        if let Some(request) = unsafe { HttpRequest::new(request) } {
            gate::on_read(request);
        }
    });
    NGX_DECLINED as ngx_int_t
}

/// The access phase. It never answers `NGX_OK` nor a status: under `satisfy any` the first would let a request past
/// `auth_basic`, and the second would let `allow` past us.
unsafe extern "C" fn on_access(request: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx passes the request that it serves.
    let next = guard(Next::Continue, || {
        unsafe { HttpRequest::new(request) }.map_or(Next::Continue, gate::on_access)
    });
    match next {
        Next::Continue => NGX_DECLINED as ngx_int_t,
        Next::Finished => NGX_DONE as ngx_int_t,
    }
}

/// The end of a request, after nginx's own access log.
unsafe extern "C" fn on_log(request: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx passes the request that is over.
    guard((), || {
        if let Some(request) = unsafe { HttpRequest::new(request) } {
            measures::on_log(request);
        }
    });
    NGX_OK as ngx_int_t
}

/// The content of a location with `crawlward_status`.
pub(super) unsafe extern "C" fn on_status(request: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx passes the request that it serves.
    guard(NGX_HTTP_INTERNAL_SERVER_ERROR as ngx_int_t, || {
        unsafe { HttpRequest::new(request) }.map_or(NGX_ERROR as ngx_int_t, measures::on_status)
    })
}
