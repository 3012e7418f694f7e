//! The contexts of a virtual machine: plugins, which are the filter with one configuration each, and their streams, which
//! are requests with their responses.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use crawlward_core::decision::Decision;
use crawlward_core::diagnostic::Severity;
use crawlward_core::measures::ReloadResult;

use crate::callbacks::Action;
use crate::configuration::{self, Configuration};
use crate::gate::Gate;
use crate::host_calls::{self, LogLevel};
use crate::{metrics, request, response};

/// How often the ages of feeds are shown anew.
const TICK: Duration = Duration::from_secs(10);

thread_local! {
    /// Those that have been configured, by context.
    static PLUGINS: RefCell<BTreeMap<u32, Plugin>> = const { RefCell::new(BTreeMap::new()) };
    /// Those of plugins that have been configured, by context.
    static STREAMS: RefCell<BTreeMap<u32, Stream>> = const { RefCell::new(BTreeMap::new()) };
}

struct Plugin {
    /// As the configuration of Envoy names the filter.
    name: String,
    gate: Rc<Gate>,
}

/// One request with its response. Its gate stays until the stream ends, whatever becomes of the plugin.
struct Stream {
    gate: Rc<Gate>,
    /// What was decided about the request, until its response comes.
    decision: Option<Decision>,
}

/// Begins a stream; a plugin begins with its configuration.
pub(crate) fn create(context: u32, plugin: u32) {
    if let Some(gate) =
        PLUGINS.with_borrow(|plugins| plugins.get(&plugin).map(|plugin| Rc::clone(&plugin.gate)))
    {
        STREAMS.with_borrow_mut(|streams| streams.insert(context, Stream { gate, decision: None }));
    }
}

/// Ends a stream, or a plugin.
pub(crate) fn delete(context: u32) {
    if let Some(Stream { gate, decision }) = STREAMS.with_borrow_mut(|streams| streams.remove(&context)) {
        // Without a response the client is gone, or an internal redirect begins the request anew.
        if decision.is_some() {
            gate.note(request::keep_address());
        }
        return;
    }
    if let Some(Plugin { name, gate }) = PLUGINS.with_borrow_mut(|plugins| plugins.remove(&context)) {
        metrics::forget(&name, context);
        // Or else Envoy's timer of each plugin that ever was goes off as long as the virtual machine lives.
        gate.note(host_calls::tick_every(Duration::ZERO));
    }
}

/// Compiles a plugin's configuration. One that can't be compiled is refused, and Envoy keeps what it has.
pub(crate) fn configure(context: u32, size: usize) -> bool {
    let name = host_calls::property("plugin_name").unwrap_or_default();
    let name = String::from_utf8_lossy(&name).into_owned();
    let Some(Configuration { mut compiled, fingerprint }) = configuration::read(size) else {
        host_calls::log(LogLevel::Error, "crawlward: Envoy does not give the configuration");
        return false;
    };
    let now = host_calls::now();
    compiled.warn_of_stale_feeds(configuration::NAME, now);
    for diagnostic in &compiled.diagnostics {
        let level = match diagnostic.severity {
            Severity::Error => LogLevel::Error,
            Severity::Warning => LogLevel::Warn,
        };
        host_calls::log(level, &format!("crawlward: {diagnostic}"));
    }
    let result = if compiled.ruleset.is_some() { ReloadResult::Success } else { ReloadResult::Failure };
    let counted = metrics::count_reload(&name, fingerprint, result);
    let Some(ruleset) = compiled.ruleset else {
        return false;
    };
    let gate = Gate::new(ruleset);
    let shown = metrics::show_ruleset(&name, context, gate.ruleset(), now);
    let kept = host_calls::keep_filter_state(request::FIRST_ADDRESS);
    for done in [counted, shown, kept, host_calls::tick_every(TICK)] {
        gate.note(done);
    }
    PLUGINS.with_borrow_mut(|plugins| plugins.insert(context, Plugin { name, gate: Rc::new(gate) }));
    true
}

/// Shows how old a plugin's feeds are by now.
pub(crate) fn tick(context: u32) {
    PLUGINS.with_borrow(|plugins| {
        if let Some(Plugin { name, gate }) = plugins.get(&context) {
            gate.note(metrics::show_ages(name, context, gate.ruleset(), host_calls::now()));
        }
    });
}

/// Decides a stream's request.
pub(crate) fn request(context: u32) -> Action {
    STREAMS.with_borrow_mut(|streams| match streams.get_mut(&context) {
        Some(Stream { gate, decision }) => gate.request(decision).unwrap_or_else(|refused| {
            gate.note(Err(refused));
            Action::Continue
        }),
        None => Action::Continue,
    })
}

/// Edits a stream's response.
pub(crate) fn response(context: u32) {
    STREAMS.with_borrow_mut(|streams| {
        if let Some(Stream { gate, decision }) = streams.get_mut(&context)
            && let Some(decision) = decision.take()
        {
            gate.note(response::edit(gate.ruleset(), &decision));
        }
    });
}
