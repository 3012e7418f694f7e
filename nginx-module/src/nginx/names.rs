//! The name of a client's address, confirmed by the addresses of the name, for a request that waits for it.
//!
//! nginx's own resolver asks for both. While it calls back, it goes through the list of those that wait for one answer, and a
//! request that goes on may end others of that list. So a callback only notes what came and posts an event, from which the
//! request goes on. If the request ends before that, its pool takes back the question.

use std::cell::{Cell, UnsafeCell};
use std::net::IpAddr;
use std::ptr::{self, NonNull};
use std::time::Duration;

use ngx::core::Status;
use ngx::ffi::{
    AF_INET, AF_INET6, NGX_RESOLVE_NXDOMAIN, NGX_RESOLVE_TIMEDOUT, ngx_current_msec, ngx_delete_posted_event,
    ngx_event_t, ngx_handle_read_event, ngx_http_block_reading, ngx_http_core_loc_conf_t,
    ngx_http_core_run_phases, ngx_http_finalize_request, ngx_http_log_ctx_t, ngx_http_request_empty_handler,
    ngx_http_request_t, ngx_http_run_posted_requests, ngx_http_test_reading, ngx_int_t, ngx_msec_t,
    ngx_post_event, ngx_posted_events, ngx_resolve_addr, ngx_resolve_addr_done, ngx_resolve_name,
    ngx_resolve_name_done, ngx_resolve_start, ngx_resolver_ctx_t, ngx_resolver_t, ngx_str_t, sockaddr,
    sockaddr_in, sockaddr_in6, socklen_t,
};
use ngx::http::{HTTPStatus, HttpModule, HttpModuleConfExt, NgxHttpCoreModule};

use super::module::Module;
use super::panics::guard;
use super::pool;
use super::request::{Request, address_of};
use super::types::{Exported, ModuleTypes};

/// The question that a request waits for: does its client's address have a name of a kind?
pub(crate) trait NameQuestion: 'static {
    /// The address.
    fn address(&self) -> IpAddr;

    /// The time that the request waits at most.
    fn patience(&self) -> Duration;

    /// The name as it is to be asked for, if a name of the address is of that kind.
    fn candidate(&self, name: &[u8]) -> Option<String>;

    /// Returns true if these addresses of a candidate confirm it.
    fn is_confirmed_by(&self, addresses: &mut dyn Iterator<Item = IpAddr>) -> bool;
}

/// The answer of DNS. `valid_until` is in seconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameAnswer {
    /// The address has such a name, and the name has the address.
    Confirmed { valid_until: i64 },
    /// It has none of that kind, or none that has the address.
    Refuted { valid_until: i64 },
    /// It has no name.
    NoName { valid_until: i64 },
    /// DNS does not say so in time.
    TimedOut,
    /// DNS does not say, or cannot be asked.
    Failed,
}

/// A question on its way, with the request that waits. It is in the request's pool.
struct Waiting<M: ModuleTypes> {
    request: NonNull<ngx_http_request_t>,
    question: M::Question,
    /// By nginx's clock.
    deadline: ngx_msec_t,
    query: Cell<Option<Query>>,
    /// Until when the name of the address is valid.
    valid_until: Cell<i64>,
    answer: Cell<NameAnswer>,
    address: Address,
    /// Posted when the answer is there.
    event: UnsafeCell<ngx_event_t>,
}

/// A query that nginx's resolver works on.
#[derive(Clone, Copy)]
enum Query {
    /// The name of the address.
    Name(NonNull<ngx_resolver_ctx_t>),
    /// The addresses of the name.
    Addresses(NonNull<ngx_resolver_ctx_t>),
}

/// An address for C, to which nginx's resolver keeps a pointer.
enum Address {
    V4(UnsafeCell<sockaddr_in>),
    V6(UnsafeCell<sockaddr_in6>),
}

impl Address {
    fn new(address: IpAddr) -> Self {
        // SAFETY: these are structures of C, for which zero is valid in all fields. An in6_addr is sixteen bytes, whatever a C
        // library calls its fields.
        unsafe {
            match address {
                IpAddr::V4(v4) => {
                    let mut v4_address: sockaddr_in = std::mem::zeroed();
                    v4_address.sin_family = AF_INET as _;
                    v4_address.sin_addr.s_addr = u32::from_ne_bytes(v4.octets());
                    Self::V4(UnsafeCell::new(v4_address))
                }
                IpAddr::V6(v6) => {
                    let mut v6_address: sockaddr_in6 = std::mem::zeroed();
                    v6_address.sin6_family = AF_INET6 as _;
                    (&raw mut v6_address.sin6_addr).cast::<[u8; 16]>().write(v6.octets());
                    Self::V6(UnsafeCell::new(v6_address))
                }
            }
        }
    }

    fn as_ptr(&self) -> *mut sockaddr {
        match self {
            Self::V4(v4) => v4.get().cast(),
            Self::V6(v6) => v6.get().cast(),
        }
    }

    fn length(&self) -> socklen_t {
        let length = match self {
            Self::V4(_) => size_of::<sockaddr_in>(),
            Self::V6(_) => size_of::<sockaddr_in6>(),
        };
        length as socklen_t
    }
}

impl<M: ModuleTypes> Drop for Waiting<M> {
    fn drop(&mut self) {
        // SAFETY: nginx destroys the pool of a request in its main thread. A query that has not ended is the resolver's, and
        // neither its address nor its name is gone yet: both are in this pool. A posted event is in nginx's queue.
        unsafe {
            match self.query.take() {
                Some(Query::Name(query)) => ngx_resolve_addr_done(query.as_ptr()),
                Some(Query::Addresses(query)) => ngx_resolve_name_done(query.as_ptr()),
                None => (),
            }
            if (*self.event.get()).posted() != 0 {
                ngx_delete_posted_event(self.event.get());
            }
        }
    }
}

/// Returns true if a location has a resolver: nginx gives those without one an empty one.
///
/// # Safety
///
/// `conf` is live, and nginx has merged it.
pub(super) unsafe fn has_resolver(conf: &ngx_http_core_loc_conf_t) -> bool {
    // SAFETY: a resolver lives as long as the configuration.
    unsafe { conf.resolver.as_ref() }.is_some_and(|resolver| resolver.connections.nelts > 0)
}

impl<M: Module + Exported> Request<'_, M> {
    /// Asks a question, for which the request then has to wait. False if that can't be done.
    pub(super) fn ask(&self, question: M::Question) -> bool {
        let address = Address::new(question.address());
        let patience = ngx_msec_t::try_from(question.patience().as_millis()).unwrap_or(ngx_msec_t::MAX / 2);
        // SAFETY: the request is live, and so are its pool, its connection and its configuration. The value stays in the pool
        // until that is destroyed, and takes back what it has given to nginx. An event may be zeroed.
        unsafe {
            if !can_wait(self.as_ptr()) {
                return false;
            }
            let waiting = Waiting::<M> {
                request: NonNull::new_unchecked(self.as_ptr()),
                question,
                deadline: ngx_current_msec.wrapping_add(patience),
                query: Cell::new(None),
                valid_until: Cell::new(0),
                answer: Cell::new(NameAnswer::Failed),
                address,
                event: UnsafeCell::new(std::mem::zeroed()),
            };
            let Some(waiting) = pool::keep((*self.as_ptr()).pool, || waiting) else { return false };
            let event = (*waiting.as_ptr()).event.get();
            (*event).handler = Some(on_answer::<M>);
            (*event).data = waiting.as_ptr().cast();
            (*event).log = (*(*self.as_ptr()).connection).log;
            waiting.as_ref().ask_for_name();
            (*self.as_ptr()).read_event_handler = Some(ngx_http_test_reading);
            (*self.as_ptr()).write_event_handler = Some(ngx_http_request_empty_handler);
        }
        true
    }
}

/// Has nginx notice if the client goes away, as its own handlers that wait do.
///
/// # Safety
///
/// `request` is live, and this is the main thread.
unsafe fn can_wait(request: *mut ngx_http_request_t) -> bool {
    // SAFETY: a request has a connection, and that has an event for reading.
    unsafe {
        let read = (*(*request).connection).read;
        if (*read).ready() != 0 {
            ngx_post_event(read, &raw mut ngx_posted_events);
            return true;
        }
        Status(ngx_handle_read_event(read, 0)).is_ok()
    }
}

impl<M: Module + Exported> Waiting<M> {
    /// # Safety
    ///
    /// The value is in the pool of its request, and this is the main thread.
    unsafe fn ask_for_name(&self) {
        // SAFETY: the resolver frees a query that it can't start. It may call back at once.
        unsafe {
            let Some(query) = self.query(on_name::<M>) else { return self.end(NameAnswer::Failed) };
            (*query.as_ptr()).addr.sockaddr = self.address.as_ptr();
            (*query.as_ptr()).addr.socklen = self.address.length();
            self.query.set(Some(Query::Name(query)));
            if !Status(ngx_resolve_addr(query.as_ptr())).is_ok() {
                self.query.set(None);
                self.end(NameAnswer::Failed);
            }
        }
    }

    /// # Safety
    ///
    /// As above, and the query for the name has ended.
    unsafe fn ask_for_addresses(&self, name: &str) {
        // SAFETY: as above. The resolver may write to the name, which is a copy in the request's pool.
        unsafe {
            let name = ngx_str_t::from_bytes((*self.request.as_ptr()).pool, name.as_bytes());
            let Some((name, query)) = name.and_then(|name| Some((name, self.query(on_addresses::<M>)?)))
            else {
                return self.end(NameAnswer::Failed);
            };
            (*query.as_ptr()).name = name;
            self.query.set(Some(Query::Addresses(query)));
            if !Status(ngx_resolve_name(query.as_ptr())).is_ok() {
                self.query.set(None);
                self.end(NameAnswer::Failed);
            }
        }
    }

    /// A query that has what time is left. `None` if there is no time, no resolver or no memory.
    ///
    /// # Safety
    ///
    /// The request is live, and this is the main thread.
    unsafe fn query(
        &self,
        on_end: unsafe extern "C" fn(*mut ngx_resolver_ctx_t),
    ) -> Option<NonNull<ngx_resolver_ctx_t>> {
        // nginx's clock starts again at zero, so times are compared by the sign of their difference. Without a time, nginx would
        // wait for ever.
        // SAFETY: nginx writes its clock in the main thread only.
        let left = self.deadline.wrapping_sub(unsafe { ngx_current_msec });
        if left == 0 || left.cast_signed() < 0 {
            return None;
        }
        // SAFETY: the request is live, and keeps its configuration. What `ngx_resolve_start` returns is null, -1 (there is no
        // resolver), or a query.
        unsafe {
            let core = (*self.request.as_ptr())
                .http_location_conf_unchecked::<ngx_http_core_loc_conf_t>(NgxHttpCoreModule::module())?;
            let resolver: *mut ngx_resolver_t = (*core.as_ptr()).resolver;
            if !has_resolver(core.as_ref()) {
                return None;
            }
            let query = NonNull::new(ngx_resolve_start(resolver, ptr::null_mut()))?;
            (*query.as_ptr()).handler = Some(on_end);
            (*query.as_ptr()).data = ptr::from_ref(self).cast_mut().cast();
            (*query.as_ptr()).timeout = left;
            Some(query)
        }
    }

    /// Has the request go on as soon as nginx comes to its posted events.
    ///
    /// # Safety
    ///
    /// As above, and no query is on its way.
    unsafe fn end(&self, answer: NameAnswer) {
        self.answer.set(answer);
        // SAFETY: the event stays where it is until the request's pool is destroyed, which takes it out of the queue.
        unsafe { ngx_post_event(self.event.get(), &raw mut ngx_posted_events) };
    }
}

/// The result of a query that ended without an answer.
fn without_answer(state: ngx_int_t, if_there_is_none: NameAnswer) -> NameAnswer {
    match u32::try_from(state) {
        Ok(NGX_RESOLVE_NXDOMAIN) => if_there_is_none,
        Ok(NGX_RESOLVE_TIMEDOUT) => NameAnswer::TimedOut,
        _ => NameAnswer::Failed,
    }
}

/// The resolver knows the name of the address. It takes the first one of several.
unsafe extern "C" fn on_name<M: Module + Exported>(query: *mut ngx_resolver_ctx_t) {
    // SAFETY: nginx calls this in its main thread, once for a query of `ask_for_name`, whose data is live: the request's pool
    // takes back the query before it is destroyed. The name is valid until the end of the call.
    unsafe {
        let waiting = &*(*query).data.cast::<Waiting<M>>();
        let (state, valid_until) = ((*query).state, (*query).valid);
        let is_known = Status(state).is_ok();
        let candidate = match is_known {
            true => guard::<M, _>(None, |_| Some(waiting.question.candidate((*query).name.as_bytes())))
                .ok_or(NameAnswer::Failed),
            false => Err(without_answer(state, NameAnswer::NoName { valid_until })),
        };
        waiting.query.set(None);
        ngx_resolve_addr_done(query);
        match candidate {
            Ok(Some(name)) => {
                waiting.valid_until.set(valid_until);
                waiting.ask_for_addresses(&name);
            }
            Ok(None) => waiting.end(NameAnswer::Refuted { valid_until }),
            Err(answer) => waiting.end(answer),
        }
    }
}

/// The resolver knows the addresses of the name.
unsafe extern "C" fn on_addresses<M: Module + Exported>(query: *mut ngx_resolver_ctx_t) {
    // SAFETY: as in `on_name`. The addresses are an array, valid until the end of the call.
    unsafe {
        let waiting = &*(*query).data.cast::<Waiting<M>>();
        let (state, valid_until) = ((*query).state, (*query).valid.min(waiting.valid_until.get()));
        let answer = if Status(state).is_ok() {
            let addresses = match (*query).addrs.is_null() {
                true => &[],
                false => std::slice::from_raw_parts((*query).addrs, (*query).naddrs),
            };
            let mut addresses = addresses.iter().filter_map(|address| address_of(address.sockaddr));
            let is_confirmed =
                guard::<M, _>(None, |_| Some(waiting.question.is_confirmed_by(&mut addresses)));
            match is_confirmed {
                Some(true) => NameAnswer::Confirmed { valid_until },
                Some(false) => NameAnswer::Refuted { valid_until },
                None => NameAnswer::Failed,
            }
        } else {
            without_answer(state, NameAnswer::Refuted { valid_until })
        };
        waiting.query.set(None);
        ngx_resolve_name_done(query);
        waiting.end(answer);
    }
}

/// The answer is there, and the request goes on with the next handler of the phase.
unsafe extern "C" fn on_answer<M: Module + Exported>(event: *mut ngx_event_t) {
    // SAFETY: nginx calls this in its main thread, with the event of a live `Waiting`. What runs the phases may end the request
    // and destroy its pool; nothing of either is used after that. A connection stays until its events are handled.
    unsafe {
        let waiting = &*(*event).data.cast::<Waiting<M>>();
        let raw = waiting.request;
        let connection = (*raw.as_ptr()).connection;
        let log = (*(*connection).log).data.cast::<ngx_http_log_ctx_t>();
        (*log).current_request = raw.as_ptr();
        guard::<M, _>((), |main_thread| {
            M::on_answer(&Request::new(raw, main_thread), &waiting.question, waiting.answer.get());
        });
        (*raw.as_ptr()).read_event_handler = Some(ngx_http_block_reading);
        (*raw.as_ptr()).write_event_handler = Some(ngx_http_core_run_phases);
        (*raw.as_ptr()).phase_handler += 1;
        match Status(ngx_handle_read_event((*connection).read, 0)).is_ok() {
            true => ngx_http_core_run_phases(raw.as_ptr()),
            false => {
                let failure: Status = HTTPStatus::INTERNAL_SERVER_ERROR.into();
                ngx_http_finalize_request(raw.as_ptr(), failure.into());
            }
        }
        ngx_http_run_posted_requests(connection);
    }
}
