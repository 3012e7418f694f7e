//! The use of features in nginx.conf: directives that have no effect, and work that is done only if a directive needs it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use crate::nginx::{Configuration, Position, Purpose};

const CONFIG: &str = "crawlpike_config";

/// Facts that only the whole configuration shows.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    has_config: Cell<bool>,
    /// The directives that have no effect without `crawlpike_config`.
    others: RefCell<Vec<(&'static str, Position)>>,
    /// Each `crawlpike_trust_header on`, and whether the mode may be `off` anywhere in its block.
    trusted: RefCell<BTreeMap<Position, bool>>,
    /// True if a request may have to wait for a lookup, in any block.
    has_lookups: Cell<bool>,
}

impl Usage {
    /// Notes a directive.
    pub(crate) fn note(&self, name: &'static str, position: Position) {
        match name {
            CONFIG => self.has_config.set(true),
            _ => self.others.borrow_mut().push((name, position)),
        }
    }

    /// Notes a block in which a `crawlpike_trust_header on` is in force.
    pub(crate) fn note_trusted(&self, position: &Position, may_be_off: bool) {
        let mut trusted = self.trusted.borrow_mut();
        let known = trusted.entry(position.clone()).or_default();
        *known = *known || may_be_off;
    }

    /// Returns true if any block trusts the header.
    pub(crate) fn is_header_trusted(&self) -> bool {
        !self.trusted.borrow().is_empty()
    }

    /// Notes a block whose requests may wait for a lookup.
    pub(crate) fn note_lookups(&self) {
        self.has_lookups.set(true);
    }

    /// Returns true if requests of any block may wait for a lookup.
    pub(crate) fn has_lookups(&self) -> bool {
        self.has_lookups.get()
    }

    /// Warns of the directives that have no effect.
    pub(crate) fn warn(&self, configuration: &Configuration<'_>) {
        // An operator who stops a server need not know.
        if configuration.purpose() == Purpose::Signal {
            return;
        }
        if !self.has_config.get() {
            for (name, position) in &*self.others.borrow() {
                let message = format!("\"{name}\" directive has no effect without \"{CONFIG}\"");
                configuration.warn_at(position, &message);
            }
            return;
        }
        for (position, _) in self.trusted.borrow().iter().filter(|(_, may_be_off)| !**may_be_off) {
            let message =
                "\"crawlpike_trust_header\" directive has no effect, because the mode is never \"off\" here";
            configuration.warn_at(position, message);
        }
    }
}
