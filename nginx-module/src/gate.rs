//! From nginx's request to the core's decision, and back.

use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::rc::Rc;

use crawlpike_core::metrics::{DenialLog, OnceAMinute};
use crawlpike_core::{
    Action, Decision, HeaderNames, Identity, Mode, NameLengths, Overrides, Reply, Ruleset, Scheme,
    SignatureBudget, UPSTREAM_HEADER, connection_without_ours, decide_remembering, is_forgery, joined_lines,
};

use crate::conf::{LocationConf, MainConf, ModeSource};
use crate::counters::with_signature_budget;
use crate::documents;
use crate::module::Request;
use crate::nginx::{Answered, HeaderName, LogLevel, NoRoom, Response};
use crate::ruleset::LoadedRuleset;
use crate::state::{Basis, Decided, RequestState, SeenNames, ServedBy};
use crate::variables::Variable;

const HEADER_NAME: &str = UPSTREAM_HEADER.lowercase;
const HEADER: HeaderName = HeaderName::new(UPSTREAM_HEADER.sent, HEADER_NAME);

/// The least status of an error.
const FIRST_ERROR: usize = 400;

const USER_AGENT: &str = "user-agent";

const CONNECTION: HeaderName = HeaderName::new("Connection", "connection");

impl crawlpike_core::Request for Request<'_> {
    fn address(&self) -> Option<IpAddr> {
        self.client_address()
    }

    fn scheme(&self) -> Option<Scheme> {
        Some(if self.is_encrypted() { Scheme::Https } else { Scheme::Http })
    }

    fn authority(&self) -> Option<&[u8]> {
        Some(self.authority().unwrap_or_default())
    }

    fn method(&self) -> &[u8] {
        self.method()
    }

    fn path(&self) -> &[u8] {
        self.target()
    }

    fn user_agent(&self) -> Option<&[u8]> {
        // Nearly all requests have one, which nginx has found already.
        match self.state() {
            Some(state) if state.seen.has_one_user_agent => self.first_user_agent(),
            _ => joined_header(self, USER_AGENT),
        }
    }

    fn now(&self) -> i64 {
        self.main_thread().now()
    }

    fn with_signature_budget<T>(&self, call: impl FnOnce(&SignatureBudget) -> T) -> Option<T> {
        with_signature_budget(self.main_thread(), call)
    }

    fn header_lines<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        self.header_lines(name)
    }
}

/// The lines of a header as one value.
#[inline]
pub(crate) fn joined_header<'h>(request: &'h Request<'_>, name: &str) -> Option<&'h [u8]> {
    match joined_lines(request.header_lines(name))? {
        Cow::Borrowed(line) => Some(line),
        Cow::Owned(lines) => request.keep(&lines),
    }
}

/// Removes the client's own `X-Crawlpike` before `$http_x_crawlpike` can show it, settles the host for `$http_host`, and notes that
/// nginx serves the request.
pub(crate) fn on_request(request: &mut Request<'_>) {
    let Some(main) = request.main_conf() else { return };
    let Some(ruleset) = main.ruleset.get() else { return };
    let has_md_paths = ruleset.has_md_paths();
    request.settle_host();
    const LENGTHS: NameLengths = HeaderNames::LENGTHS.and_of(USER_AGENT);
    let (mut names, mut user_agents) = (HeaderNames::default(), 0);
    for header in request.headers().filter(|header| LENGTHS.may_have(header.name().len())) {
        names.see(header.name());
        user_agents += u32::from(header.is_named(USER_AGENT));
    }
    let seen = SeenNames {
        is_unsigned: !names.are_signed,
        // A module may have added a line without telling nginx.
        has_one_user_agent: user_agents == 1 && request.first_user_agent().is_some(),
    };
    if !names.may_hide_ours {
        request.keep_state(|| RequestState::new(ruleset, None, false, seen));
    } else {
        keep_out_forgeries(request, main, ruleset, seen);
    }
    if has_md_paths {
        documents::on_request(request);
    }
}

/// Removes what says something in our name.
fn keep_out_forgeries(
    request: &mut Request<'_>,
    main: &MainConf,
    ruleset: Rc<LoadedRuleset>,
    seen: SeenNames,
) {
    let outer_header = main.usage.is_header_trusted().then(|| joined_header(request, HEADER_NAME)).flatten();
    let outer_header = outer_header.filter(|value| !value.is_empty()).map(Box::from);
    // No location is known yet, so the block of the server counts.
    let conf = request.location_conf().filter(|_| outer_header.is_some());
    let is_trusted = conf.is_some_and(LocationConf::always_trusts_header);
    let is_unwanted =
        |name: &[u8]| is_forgery(name) && !(is_trusted && name.eq_ignore_ascii_case(HEADER_NAME.as_bytes()));
    // If there is no memory for that now, the access phase tries again.
    let is_removed = request.remove_headers(is_unwanted).is_ok() && edit_connection(request).is_ok();
    let may_have_header = is_trusted || !is_removed;
    request.keep_state(|| RequestState::new(ruleset, outer_header, may_have_header, seen));
}

/// Decides, and denies the request or passes it on with the header for upstreams.
pub(crate) fn on_access(mut request: Request<'_>) -> ControlFlow<Answered> {
    if request.main_conf().is_none_or(|main| main.ruleset.is_empty()) {
        return ControlFlow::Continue(());
    }
    let Some(state) = request.state() else {
        // nginx refused the request while it read it, and an `error_page` leads here. No decision is made: the User-Agent may be
        // among what was not read.
        let _ = remove_header(&mut request);
        return ControlFlow::Continue(());
    };
    // After an internal redirect, the header is about another location.
    let is_removed = !state.may_have_header.get() || remove_header(&mut request).is_ok();
    state.may_have_header.set(!is_removed);
    let decided = judge(&request, state);
    let decision = decided.decision;
    state.served_by.set(Some(ServedBy { decision, location: request.location_id() }));
    // If the mode is `off`, an error page can be on its way.
    if !decision.is_off() {
        state.announced.set(None);
    }
    if !is_removed || decided.is_final {
        return ControlFlow::Continue(());
    }
    if decision.is_answered() {
        state.last.set(Some(Decided { is_final: true, ..decided }));
        return answer(request, &state.ruleset, &decision);
    }
    let own = state.ruleset.recent_headers.value(&state.ruleset, &decision);
    let is_trusted = decision.is_off() && request.location_conf().is_some_and(LocationConf::trusts_header);
    let value = match &own {
        Some(own) => Some(own.as_bytes()),
        None => state.outer_header.as_deref().filter(|_| is_trusted),
    };
    if let Some(value) = value {
        state.may_have_header.set(true);
        // If there is no memory for the header, it is missing. There is nothing better to do.
        let _ = request.add_header(HEADER, value);
    }
    documents::on_access(&mut request, state, &decision);
    ControlFlow::Continue(())
}

fn remove_header(request: &mut Request<'_>) -> Result<(), NoRoom> {
    request.remove_headers(is_forgery)
}

/// Has no upstream remove our header.
fn edit_connection(request: &mut Request<'_>) -> Result<(), NoRoom> {
    let Some(options) = connection_without_ours(request) else { return Ok(()) };
    request.remove_headers(|name| name.eq_ignore_ascii_case(b"connection"))?;
    if options.is_empty() { Ok(()) } else { request.add_header(CONNECTION, &options) }
}

fn answer(mut request: Request<'_>, ruleset: &Ruleset, decision: &Decision) -> ControlFlow<Answered> {
    let conf = request.location_conf();
    let Some(reply) = ruleset.reply(decision, &request, conf.and_then(|conf| conf.deny_status)) else {
        return ControlFlow::Continue(());
    };
    if decision.action == Action::Deny {
        log_denial(&request, ruleset, decision, conf.and_then(LocationConf::log_level));
    }
    request.forget_upstream();
    ControlFlow::Break(match request.is_answered_by_nginx(reply.status) {
        true => request.finish_with_status(reply.status),
        false => send(request, &reply),
    })
}

/// Writes a line about a denial. At the default level a worker writes one line a second and reason: a flood of requests must not fill
/// the disk.
fn log_denial(request: &Request<'_>, ruleset: &Ruleset, decision: &Decision, level: Option<LogLevel>) {
    thread_local! {
        static DENIALS: DenialLog = DenialLog::new();
    }
    let left_out = match level {
        Some(_) => None,
        None => match DENIALS.with(|denials| denials.note(decision.reason, request.main_thread().now())) {
            Some(left_out) => Some(left_out),
            None => return,
        },
    };
    request.log(level.unwrap_or(LogLevel::ERROR), || {
        let line = ruleset.denial_line(decision, request);
        left_out
            .map_or_else(|| format!("crawlpike: {line}"), |left_out| format!("crawlpike: {line}{left_out}"))
    });
}

/// Sends a reply of the core.
pub(crate) fn send(request: Request<'_>, reply: &Reply<'_>) -> Answered {
    request.answer(Response { status: reply.status, headers: reply.headers(), body: &reply.body })
}

/// The value of a variable. `None`: not found, as for what nginx did not accept as a request, and a fact of a decision for people.
pub(crate) fn evaluate(request: &Request<'_>, variable: Variable) -> Option<String> {
    let state = request.state()?;
    if let Variable::Document = variable {
        return state.document.get()?.shown.get().map(Into::into);
    }
    let decision = decision(request, state);
    if let Variable::Client(fact) = variable {
        return state.ruleset.client_fact(fact, &decision, request).map(Cow::into_owned);
    }
    if decision.identity == Identity::None {
        return None;
    }
    let is_asked = matches!(variable, Variable::Enforced) && !state.is_evaluating_mode.get();
    if is_asked && is_denial(&decision) && is_ahead(request, state) {
        state.announced.set(Some(decision));
    }
    variable.value(&state.ruleset.describe(&decision, request), state.ruleset.client_address(request))
}

/// The decision by which a response is made. `None` for what nginx did not accept as a request.
pub(crate) fn response_decision<'r>(request: &Request<'r>) -> Option<(&'r RequestState, Decision)> {
    let state = request.state()?;
    Some((state, decision(request, state)))
}

/// The last decision that counts: by the access phase, or by nginx.conf ahead of it. What never came there was not decided:
/// what `rewrite` answers, and what nginx refused.
pub(crate) fn counted_decision<'r>(request: &Request<'r>) -> Option<(&'r RequestState, Decision)> {
    let state = request.state()?;
    let denied = denied_ahead(request, state);
    Some((state, denied.or_else(|| state.served_by.get().map(|served| served.decision))?))
}

/// The decision about a request. From the access phase of its location on, it is the one by which the request is served,
/// whatever has become of the mode's variable since. Before that, it is the one that would be made now. If nginx answers
/// without that phase, nothing is enforced, unless nginx.conf itself denies what it has read to be a denial.
// Inlined, LLVM takes the decision apart bit by bit: 300 instructions a response.
#[inline(never)]
fn decision(request: &Request<'_>, state: &RequestState) -> Decision {
    if let Some(decision) = denied_ahead(request, state).or_else(|| current(request, state)) {
        return decision;
    }
    let Decided { mut decision, is_final, .. } = judge(request, state);
    decision.enforced &= is_final || request.response_status().is_none();
    decision
}

/// The denial that nginx.conf has read ahead of the access phase, if nginx answers with an error since.
fn denied_ahead(request: &Request<'_>, state: &RequestState) -> Option<Decision> {
    state.announced.get().filter(|_| request.response_status().is_some_and(|status| status >= FIRST_ERROR))
}

/// The decision of the access phase of the location that serves the request.
fn current(request: &Request<'_>, state: &RequestState) -> Option<Decision> {
    let is_current =
        |served: &ServedBy| served.location == request.location_id() && !state.is_evaluating_mode.get();
    state.served_by.get().filter(is_current).map(|served| served.decision)
}

/// Returns true if the access phase of the location that serves the request is still to come.
fn is_ahead(request: &Request<'_>, state: &RequestState) -> bool {
    current(request, state).is_none() && request.response_status().is_none()
}

fn is_denial(decision: &Decision) -> bool {
    decision.action == Action::Deny && decision.enforced
}

/// The decision about a request as it is now, made once as long as its basis holds.
pub(crate) fn judge(request: &Request<'_>, state: &RequestState) -> Decided {
    #[cfg(feature = "faults-for-tests")]
    panic_if_asked(request);
    let last = state.last.get();
    if let Some(last) = last.filter(|last| last.is_final) {
        return last;
    }
    let overrides = overrides(request, state);
    let basis = Basis { address: request.client_address(), overrides };
    if let Some(last) = last.filter(|last| last.basis == basis) {
        return last;
    }
    let decision = decide_remembering(&state.ruleset, &state.ruleset.recent_speakers, request, overrides);
    let decided = Decided { basis, decision, is_final: false };
    state.last.set(Some(decided));
    decided
}

/// The settings of nginx.conf for a request beside the document, and the known name of its client.
pub(crate) fn overrides(request: &Request<'_>, state: &RequestState) -> Overrides {
    let site = request.location_conf().and_then(|conf| conf.site);
    Overrides {
        mode: mode(request, state),
        site,
        name: state.name.get(),
        is_unsigned: state.seen.is_unsigned,
        ..Overrides::default()
    }
}

/// Those settings of the server, before any variable may be evaluated, since nginx keeps the values of many: a mode in one counts as
/// one that is not `off`.
pub(crate) fn overrides_of_server(request: &Request<'_>) -> Overrides {
    let Some(conf) = request.server_conf() else { return Overrides::default() };
    let mode = match conf.mode {
        ModeSource::Inherited => None,
        ModeSource::Fixed(mode) => Some(mode),
        ModeSource::Variable(_) => Some(Mode::Observe),
    };
    Overrides { mode, site: conf.site, ..Overrides::default() }
}

#[cfg(feature = "faults-for-tests")]
#[expect(clippy::panic, reason = "that is what the feature is for")]
fn panic_if_asked(request: &Request<'_>) {
    if request.header_lines("x-panic").next().is_some() {
        panic!("a request asked for it");
    }
}

/// The mode of the location. `None`: that of the document, of a part of the site or of all.
fn mode(request: &Request<'_>, state: &RequestState) -> Option<Mode> {
    static LAST_LOGGED: OnceAMinute = OnceAMinute::new();
    let value = match request.location_conf()?.mode {
        ModeSource::Inherited => return None,
        ModeSource::Fixed(mode) => return Some(mode),
        // A `map` from the agent to the mode asks for the agent first, which needs no mode but `off`.
        ModeSource::Variable(_) if state.is_evaluating_mode.get() => return None,
        ModeSource::Variable(value) => value,
    };
    state.is_evaluating_mode.set(true);
    let word = request.evaluate(value);
    state.is_evaluating_mode.set(false);
    let mode = word.and_then(|word| str::from_utf8(word).ok()).and_then(Mode::from_word);
    // An empty value chooses the document's mode. The variable is evaluated whenever a variable of this module is read, so
    // that a mistake would fill the log.
    if mode.is_none() && word != Some(b"") && LAST_LOGGED.is_due(request.main_thread().now()) {
        request.log(LogLevel::ERROR, || match word {
            Some(word) => {
                format!("crawlpike: invalid mode \"{}\", using the document's", String::from_utf8_lossy(word))
            }
            None => "crawlpike: cannot evaluate the mode, using the document's".to_owned(),
        });
    }
    mode
}
