//! The calls from nginx for a request: variables, handlers of phases, and filters.

use std::ops::ControlFlow;
use std::ptr::NonNull;

use ngx::core::Status;
use ngx::ffi::{
    NGX_HTTP_VAR_NOCACHEABLE, ngx_array_push, ngx_chain_t, ngx_conf_t, ngx_http_add_variable,
    ngx_http_core_main_conf_t, ngx_http_finalize_request, ngx_http_handler_pt,
    ngx_http_output_body_filter_pt, ngx_http_output_header_filter_pt, ngx_http_phases,
    ngx_http_phases_NGX_HTTP_ACCESS_PHASE, ngx_http_phases_NGX_HTTP_LOG_PHASE,
    ngx_http_phases_NGX_HTTP_POST_READ_PHASE, ngx_http_phases_NGX_HTTP_PREACCESS_PHASE, ngx_http_request_t,
    ngx_http_top_body_filter, ngx_http_top_header_filter, ngx_int_t, ngx_str_t, ngx_uint_t,
    ngx_variable_value_t,
};
use ngx::http::{HTTPStatus, HttpModule, HttpModuleConfExt, NgxHttpCoreModule};

use crate::nginx::answer::Answered;
use crate::nginx::body::{self, Next};
use crate::nginx::main_conf::main_conf;
use crate::nginx::main_thread::{MainThread, MainThreadCell};
use crate::nginx::module::Module;
use crate::nginx::panics::guard;
use crate::nginx::request::Request;
use crate::nginx::threads;
use crate::nginx::types::Exported;

/// The filters that nginx calls after those of this module.
static NEXT_HEADER_FILTER: MainThreadCell<ngx_http_output_header_filter_pt> = MainThreadCell::new(None);
static NEXT_BODY_FILTER: MainThreadCell<ngx_http_output_body_filter_pt> = MainThreadCell::new(None);

/// # Safety
///
/// nginx is reading the configuration `cf`.
pub(super) unsafe fn add_variables<M: Module + Exported>(cf: *mut ngx_conf_t) -> Status {
    for (index, (name, _)) in M::VARIABLES.iter().enumerate() {
        let mut name = ngx_str_t { len: name.len(), data: name.as_ptr().cast_mut() };
        // SAFETY: nginx copies the name. It returns null or a variable that it has made.
        let added = unsafe {
            ngx_http_add_variable(cf, &raw mut name, NGX_HTTP_VAR_NOCACHEABLE as ngx_uint_t).as_mut()
        };
        let Some(added) = added else { return Status::NGX_ERROR };
        added.get_handler = Some(get_variable::<M>);
        added.data = index;
    }
    Status::NGX_OK
}

/// Adds the handlers of phases, and the filters: none for what the configuration does not use, because nginx calls each for every
/// request.
///
/// nginx makes the chain of filters anew whenever it reads a configuration, in the order of its list of modules. Each filter
/// calls the one that was added before it.
///
/// # Safety
///
/// nginx is reading the configuration `cf`.
pub(super) unsafe fn add_handlers<M: Module + Exported>(
    cf: *mut ngx_conf_t,
    main_thread: MainThread<'_>,
) -> Status {
    // SAFETY: nginx reads its configuration, and has made that of this module.
    let main = unsafe { main_conf::<M>(&*cf) };
    let handlers: [(ngx_http_phases, ngx_http_handler_pt, bool); 4] = [
        (ngx_http_phases_NGX_HTTP_POST_READ_PHASE, Some(on_request::<M>), true),
        (
            ngx_http_phases_NGX_HTTP_PREACCESS_PHASE,
            Some(on_preaccess::<M>),
            main.is_some_and(|main| M::asks_questions(&main.conf)),
        ),
        (ngx_http_phases_NGX_HTTP_ACCESS_PHASE, Some(on_access::<M>), true),
        (ngx_http_phases_NGX_HTTP_LOG_PHASE, Some(on_log::<M>), true),
    ];
    for (phase, handler, _) in handlers.into_iter().filter(|(.., is_used)| *is_used) {
        // SAFETY: the main configuration of nginx's core module has this type, and `handlers` is an initialised array of
        // handlers.
        let slot: Option<&mut ngx_http_handler_pt> = unsafe {
            (*cf)
                .http_main_conf_unchecked::<ngx_http_core_main_conf_t>(NgxHttpCoreModule::module())
                .and_then(|core| (*core.as_ptr()).phases.get_mut(phase as usize))
                .and_then(|phase| {
                    ngx_array_push(&raw mut phase.handlers).cast::<ngx_http_handler_pt>().as_mut()
                })
        };
        let Some(slot) = slot else { return Status::NGX_ERROR };
        *slot = handler;
    }
    // SAFETY: nginx reads its configuration in its main thread, which calls no filter meanwhile.
    unsafe {
        NEXT_HEADER_FILTER.set(main_thread, ngx_http_top_header_filter);
        ngx_http_top_header_filter = Some(filter_header::<M>);
        if main.is_some_and(|main| M::replaces_bodies(&main.conf)) {
            NEXT_BODY_FILTER.set(main_thread, ngx_http_top_body_filter);
            ngx_http_top_body_filter = Some(filter_body::<M>);
            return threads::need(cf);
        }
    }
    Status::NGX_OK
}

/// Runs a function of the module for a request.
///
/// # Safety
///
/// nginx is calling in its main thread, and has passed this request.
unsafe fn with_request<M: Exported, T>(
    raw: *mut ngx_http_request_t,
    instead: T,
    call: impl FnOnce(Request<'_, M>) -> T,
) -> T {
    // SAFETY: the caller's promise. Nothing ends the request before the call returns.
    unsafe {
        guard::<M, _>(instead, |main_thread| call(Request::new(NonNull::new_unchecked(raw), main_thread)))
    }
}

unsafe extern "C" fn get_variable<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    value: *mut ngx_variable_value_t,
    index: usize,
) -> ngx_int_t {
    // SAFETY: nginx calls this in its main thread, with the request that it evaluates the variable for. Its `main` is the one
    // that the client sent, with the same pool.
    let found = unsafe {
        with_request::<M, _>((*raw).main, None, |request| {
            let (_, variable) = M::VARIABLES.get(index)?;
            let text = M::evaluate(&request, variable)?;
            request.copy(text.as_bytes())
        })
    };
    let found = found.and_then(|text| Some((length(text.len)?, text.data)));
    // SAFETY: nginx passes room for the value.
    let value = unsafe { &mut *value };
    value.set_valid(u32::from(found.is_some()));
    value.set_not_found(u32::from(found.is_none()));
    value.set_no_cacheable(0);
    if let Some((length, data)) = found {
        value.set_len(length);
        value.data = data;
    }
    Status::NGX_OK.into()
}

/// The length of a variable's value, for which nginx has 28 bits. `None` if it is longer.
fn length(length: usize) -> Option<u32> {
    u32::try_from(length).ok().filter(|length| *length < 1 << 28)
}

/// The post-read phase.
unsafe extern "C" fn on_request<M: Module + Exported>(raw: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx calls this in its main thread, with the request that it serves.
    unsafe { with_request::<M, _>(raw, (), |mut request| M::on_request(&mut request)) };
    Status::NGX_DECLINED.into()
}

/// The pre-access phase. The answer to a question leads on from here.
unsafe extern "C" fn on_preaccess<M: Module + Exported>(raw: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx calls this in its main thread, with the request that it serves.
    let waits = unsafe {
        with_request::<M, _>(raw, false, |request| {
            request.is_main() && M::question(&request).is_some_and(|question| request.ask(question))
        })
    };
    if waits { Status::NGX_AGAIN.into() } else { Status::NGX_DECLINED.into() }
}

/// The access phase. It never returns `NGX_OK` nor a status of HTTP. Under `satisfy any`, the first would let a request past
/// `auth_basic`, and the second would let `allow` past the module.
unsafe extern "C" fn on_access<M: Module + Exported>(raw: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx calls this in its main thread, with the request that it serves.
    let next = unsafe { with_request::<M, _>(raw, ControlFlow::Continue(()), M::on_access) };
    match next {
        ControlFlow::Continue(()) => Status::NGX_DECLINED.into(),
        ControlFlow::Break(Answered(status)) => {
            // SAFETY: the module has no handle any more, and nginx does not touch the request after `NGX_DONE`.
            unsafe { ngx_http_finalize_request(raw, status.into()) };
            Status::NGX_DONE.into()
        }
    }
}

/// The content of a location.
pub(super) unsafe extern "C" fn on_content<M: Module + Exported>(raw: *mut ngx_http_request_t) -> ngx_int_t {
    let failure = Answered(HTTPStatus::INTERNAL_SERVER_ERROR.into());
    // SAFETY: nginx calls this in its main thread, with the request that it serves.
    let Answered(status) = unsafe { with_request::<M, _>(raw, failure, M::on_content) };
    status.into()
}

/// The header filter: nginx calls it once for the head of each response.
unsafe extern "C" fn filter_header<M: Module + Exported>(raw: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx calls this in its main thread, with the request whose response it sends. `add_handlers` has set the next
    // filter, which gets the same request.
    unsafe {
        let main_thread = MainThread::assume();
        let Some(header) = NEXT_HEADER_FILTER.get(main_thread) else { return Status::NGX_ERROR.into() };
        let is_collected = with_request::<M, _>(raw, false, |mut request| {
            if !request.is_main() {
                return false;
            }
            // An error that comes up meanwhile has a head of its own.
            body::forget::<M>(raw);
            match (M::on_response(&mut request), NEXT_BODY_FILTER.get(main_thread)) {
                (Some(collected), Some(body)) => request.collect(collected, Next { header, body }),
                _ => false,
            }
        });
        if is_collected { Status::NGX_OK.into() } else { header(raw) }
    }
}

/// The body filter: nginx calls it for each part of a body, and to go on with what waits.
unsafe extern "C" fn filter_body<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    chain: *mut ngx_chain_t,
) -> ngx_int_t {
    // SAFETY: nginx calls this in its main thread, with the request whose response it sends. `add_handlers` has set the next
    // filters.
    unsafe {
        let Some(collected) = body::collected::<M>(raw) else {
            let next = NEXT_BODY_FILTER.get(MainThread::assume());
            return next.map_or(Status::NGX_ERROR.into(), |next| next(raw, chain));
        };
        guard::<M, _>(None, |_| Some(body::filter::<M>(raw, chain, collected)))
            .or_else(|| guard::<M, _>(None, |_| Some(body::give_up::<M>(raw, chain, collected))))
            .unwrap_or(Status::NGX_ERROR.into())
    }
}

/// The log phase, after nginx's own access log. With `log_subrequest`, nginx logs subrequests as well.
unsafe extern "C" fn on_log<M: Module + Exported>(raw: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx calls this in its main thread, with the request that has ended.
    unsafe {
        with_request::<M, _>(raw, (), |request| {
            if request.is_main() {
                M::on_log(&request);
            }
        });
    }
    Status::NGX_OK.into()
}
