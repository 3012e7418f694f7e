//! From nginx's request to the core's decision, and back.

use std::cell::Cell;
use std::net::IpAddr;
use std::ptr;
use std::rc::Rc;

use crawlward_core::config::Mode;
use crawlward_core::decision::{Action, Decision, Facts, Identity};
use crawlward_core::reply::{FORGEABLE, REQUEST_HEADER};
use crawlward_core::response::ResponseRules;
use crawlward_core::seldom::Seldom;
use crawlward_core::{Overrides, Request, Ruleset, decide};

use crate::directives::{LoadedRuleset, LocationConf, MainConf, ModeSource};
use crate::nginx::{HttpRequest, LogLevel};
use crate::variables::Value;

/// What is kept of a request between two of our handlers.
#[derive(Debug)]
pub(crate) struct State {
    /// All that happens to the request happens by this one, whatever is in force meanwhile.
    ruleset: Rc<LoadedRuleset>,
    decided: Cell<Option<Decided>>,
    /// Whether the mode's variable is being evaluated: it may itself read our variables.
    asking_for_mode: Cell<bool>,
    /// Whether the request's headers can have an `X-Crawlward`: ours, or the client's that could not be removed.
    may_have_header: Cell<bool>,
    /// What was decided when the request last came to the access phase.
    judged: Cell<Option<Judged>>,
}

impl State {
    fn new(ruleset: Rc<LoadedRuleset>, may_have_header: bool) -> Self {
        Self {
            ruleset,
            decided: Cell::default(),
            asking_for_mode: Cell::default(),
            may_have_header: Cell::new(may_have_header),
            judged: Cell::default(),
        }
    }

    /// What was decided when the request last came to the access phase, and by which ruleset.
    pub(crate) fn judged(&self) -> Option<(&LoadedRuleset, Decision)> {
        Some((&self.ruleset, self.judged.get()?.decision))
    }
}

#[derive(Clone, Copy, Debug)]
struct Judged {
    decision: Decision,
    /// Where that was; compared, and never followed.
    location: *const LocationConf,
}

#[derive(Clone, Copy, Debug)]
struct Decided {
    basis: Basis,
    decision: Decision,
    /// The response to a denial is under way: what follows (an `error_page`, the log) is part of it.
    is_final: bool,
}

/// What can change while a request is served: `realip` in a location, a redirect to a location with another mode or
/// another site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Basis {
    address: Option<IpAddr>,
    overrides: Overrides,
}

/// How the access phase goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// With the next handler.
    Continue,
    /// Not at all: the request is answered.
    Finished,
}

impl Request for HttpRequest<'_> {
    fn address(&self) -> Option<IpAddr> {
        self.client_address()
    }

    fn host(&self) -> Option<&[u8]> {
        (*self).host()
    }

    fn method(&self) -> &[u8] {
        (*self).method()
    }

    fn path(&self) -> &[u8] {
        self.target()
    }

    fn user_agent(&self) -> Option<&[u8]> {
        self.joined_header("user-agent")
    }

    fn now(&self) -> i64 {
        HttpRequest::now()
    }

    fn header(&self, name: &str) -> Option<&[u8]> {
        self.header_lines(name).next()
    }
}

/// Removes the client's own `X-Crawlward` before `$http_x_crawlward` can show it, and notes that nginx serves the request.
pub(crate) fn on_read(request: HttpRequest<'_>) {
    if let Some(ruleset) = request.main_conf().and_then(MainConf::ruleset) {
        // Without memory for it here, the access phase tries again.
        let is_removed = remove_ours(request).is_ok();
        request.begin(State::new(ruleset, !is_removed));
    }
}

/// Decides, and denies or tells upstreams what is known.
pub(crate) fn on_access(request: HttpRequest<'_>) -> Next {
    if !request.main_conf().is_some_and(MainConf::is_on) {
        return Next::Continue;
    }
    let Some(state) = request.state() else {
        // Nothing is decided about a request that nginx refused while it read it, which an `error_page` leads here: its
        // User-Agent may be among what was not read.
        let _ = remove_ours(request);
        return Next::Continue;
    };
    // What stands there after a redirect within nginx was told about another location.
    let is_removed = !state.may_have_header.get() || remove_ours(request).is_ok();
    state.may_have_header.set(!is_removed);
    let decided = judge(request, state);
    state.judged.set(Some(Judged { decision: decided.decision, location: location(request) }));
    if !is_removed || decided.is_final {
        return Next::Continue;
    }
    let decision = decided.decision;
    if decision.is_answered() {
        state.decided.set(Some(Decided { is_final: true, ..decided }));
        // The request can be gone, with its hold of the ruleset, before the answer is finished.
        let ruleset = Rc::clone(&state.ruleset);
        return answer(request, &ruleset, &decision);
    }
    if let Some(value) = state.ruleset.header_value(&decision) {
        state.may_have_header.set(true);
        // Without memory for it the header is missing; there is nothing better to do.
        let _ = request.add_header(REQUEST_HEADER, FORGEABLE[0], &value);
    }
    Next::Continue
}

fn remove_ours(request: HttpRequest<'_>) -> Result<(), ()> {
    request.remove_headers(|name| FORGEABLE.iter().any(|ours| name.eq_ignore_ascii_case(ours.as_bytes())))
}

fn answer(request: HttpRequest<'_>, ruleset: &Ruleset, decision: &Decision) -> Next {
    let conf = request.location_conf();
    let Some(reply) = ruleset.reply(decision, &request, conf.and_then(|conf| conf.deny_status)) else {
        return Next::Continue;
    };
    if decision.action == Action::Deny {
        let level = conf.and_then(|conf| conf.log_level).unwrap_or(LogLevel::ERROR);
        request.log(level, || denial_line(&ruleset.describe(decision, &request)));
    }
    request.forget_upstream();
    if request.is_nginx_to_answer(reply.status) {
        request.finish_with_status(reply.status);
    } else {
        request.finish_with_reply(&reply);
    }
    Next::Finished
}

/// What the error log says of a denial.
fn denial_line(facts: &Facts<'_>) -> String {
    let mut line = format!("crawlward: denied, {}", facts.reason);
    for (key, value) in [("agent", facts.agent), ("feed", facts.feed), ("site", facts.site)] {
        if let Some(value) = value {
            line.push_str(&format!(", {key}: \"{value}\""));
        }
    }
    if let Some(rule) = facts.rule {
        line.push_str(&format!(", rule: {}:{}", rule.file, rule.line));
    }
    line
}

/// The value of a variable; `None`: not found, as for people and for what nginx did not take as a request.
pub(crate) fn variable(request: HttpRequest<'_>, value: Value) -> Option<String> {
    let request = request.main();
    let state = request.state()?;
    let decision = decision(request, state);
    if decision.identity == Identity::None {
        return None;
    }
    value(&state.ruleset.describe(&decision, &request), request.client_address())
}

/// The rules for the responses to a request; `None`: they stay as they are, like those to what nginx did not take as one.
pub(crate) fn response_rules(request: HttpRequest<'_>) -> Option<ResponseRules<'_>> {
    let state = request.state()?;
    state.ruleset.response_rules(&decision(request, state))
}

/// The decision about a request: that by which it is served, from the access phase of its location on, whatever has become
/// of the mode's variable since; before, the one that would be made now.
// Inlined, LLVM takes the decision apart bit by bit: 300 instructions a response.
#[inline(never)]
fn decision(request: HttpRequest<'_>, state: &State) -> Decision {
    let holds = |judged: &Judged| judged.location == location(request) && !state.asking_for_mode.get();
    let judged = state.judged.get().filter(holds);
    judged.map_or_else(|| judge(request, state).decision, |judged| judged.decision)
}

fn location(request: HttpRequest<'_>) -> *const LocationConf {
    request.location_conf().map_or(ptr::null(), ptr::from_ref)
}

/// The decision about a request as it is now, made once as long as its basis holds.
fn judge(request: HttpRequest<'_>, state: &State) -> Decided {
    #[cfg(feature = "panic-for-tests")]
    panic_if_asked(request);
    let known = state.decided.get();
    if let Some(known) = known.filter(|known| known.is_final) {
        return known;
    }
    let site = request.location_conf().and_then(|conf| conf.site);
    let overrides = Overrides { mode: mode(request, state), site };
    let basis = Basis { address: request.client_address(), overrides };
    if let Some(known) = known.filter(|known| known.basis == basis) {
        return known;
    }
    let decision = decide(&state.ruleset, &request, overrides);
    let decided = Decided { basis, decision, is_final: false };
    state.decided.set(Some(decided));
    decided
}

#[cfg(feature = "panic-for-tests")]
#[expect(clippy::panic, reason = "that is what the feature is for")]
fn panic_if_asked(request: HttpRequest<'_>) {
    if request.header_lines("x-panic").next().is_some() {
        panic!("a request asked for it");
    }
}

/// The mode of the location; `None`: the document's, of the site's part or of all.
fn mode(request: HttpRequest<'_>, state: &State) -> Option<Mode> {
    let source = request.location_conf().map_or(ModeSource::Inherited, |conf| conf.mode);
    let value = match source {
        ModeSource::Inherited => return None,
        ModeSource::Fixed(mode) => return Some(mode),
        // A `map` from the agent to the mode asks for the agent first, which needs no mode but `off`.
        ModeSource::Variable(_) if state.asking_for_mode.get() => return None,
        ModeSource::Variable(value) => value,
    };
    state.asking_for_mode.set(true);
    let word = request.evaluate(value).unwrap_or_default();
    state.asking_for_mode.set(false);
    // Evaluated for every variable of ours that is read: a mistake would fill the log.
    static NO_MODE: Seldom = Seldom::new();
    let mode = std::str::from_utf8(word).ok().and_then(Mode::from_word);
    if mode.is_none() && !word.is_empty() && NO_MODE.is_due(HttpRequest::now()) {
        let word = String::from_utf8_lossy(word);
        request.log(LogLevel::ERROR, || {
            format!("crawlward: \"{word}\" is no mode; that of the document counts")
        });
    }
    mode
}
