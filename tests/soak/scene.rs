//! The rulesets that are or were in force, and what was seen.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use crawlpike_core::{Compiled, Ruleset};
use crawlpike_tests::cases::Table;
use crawlpike_tests::nginx::Folder;
use crawlpike_tests::ports::free_port;
use crawlpike_tests::runners::{Answer, Exchange, core};
use crawlpike_tests::verdict::against_core;
use serde_json::{Value, json};

use crate::gate::DOCUMENT;

/// The number of failures that are reported: one cause often has thousands of them.
const REPORTED: usize = 20;

/// The state that all threads share.
pub(crate) struct Scene {
    /// The gate's.
    pub(crate) port: u16,
    /// Every ruleset that the gate was given, in order.
    rulesets: RwLock<Vec<InForce>>,
    /// The first one that a process that takes connections may still have.
    oldest: AtomicUsize,
    /// Counted up before and after a process is killed.
    kills: AtomicUsize,
    over: AtomicBool,
    failures: Mutex<Vec<String>>,
    /// Answers that were compared with what they should be.
    checked: AtomicUsize,
    /// The actions and results of the clients, by kind.
    counts: Mutex<BTreeMap<&'static str, usize>>,
}

/// A ruleset with the document that it was compiled from, as a table without cases.
struct InForce {
    table: Table,
    ruleset: Ruleset,
}

/// The rulesets that could answer a request when its connection was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    oldest: usize,
    kills: usize,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self {
            port: free_port(),
            rulesets: RwLock::default(),
            oldest: AtomicUsize::new(0),
            kills: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            failures: Mutex::default(),
            checked: AtomicUsize::new(0),
            counts: Mutex::default(),
        }
    }

    /// From now on a process may have what was made of the document in the folder, unless it was refused.
    pub(crate) fn add(&self, folder: &Folder, compiled: Compiled) {
        let Some(ruleset) = compiled.ruleset else { return };
        let config: Value = serde_json::from_str(&folder.read(DOCUMENT)).expect("a document that compiles");
        let table = serde_json::from_value(json!({ "about": "", "config": config, "cases": [] }));
        let table = table.expect("a table without cases");
        self.rulesets.write().unwrap_or_else(PoisonError::into_inner).push(InForce { table, ruleset });
    }

    /// From now on every process that takes connections has the newest ruleset.
    pub(crate) fn only_newest(&self) {
        let count = self.rulesets.read().unwrap_or_else(PoisonError::into_inner).len();
        self.oldest.store(count - 1, Ordering::SeqCst);
    }

    /// Does what kills a process, until another one has its place: requests may be lost meanwhile.
    pub(crate) fn while_killed(&self, kill: impl FnOnce()) {
        self.kills.fetch_add(1, Ordering::SeqCst);
        kill();
        self.kills.fetch_add(1, Ordering::SeqCst);
    }

    /// To be asked before a connection is opened.
    pub(crate) fn now(&self) -> Moment {
        Moment { oldest: self.oldest.load(Ordering::SeqCst), kills: self.kills.load(Ordering::SeqCst) }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Ends the clients when it is dropped.
    pub(crate) fn ends_with_this(&self) -> impl Drop {
        struct Ends<'s>(&'s AtomicBool);
        impl Drop for Ends<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        Ends(&self.over)
    }

    /// Compares an answer with what the core decides by each ruleset that can have been asked.
    pub(crate) fn check(&self, since: Moment, case: &Value, exchange: &Exchange) {
        self.check_counted("answers compared with the core's decision");
        let rulesets = self.rulesets.read().unwrap_or_else(PoisonError::into_inner);
        let mut problems = String::new();
        for InForce { table, ruleset } in rulesets.iter().skip(since.oldest) {
            let case = serde_json::from_value(case.clone()).expect("a case");
            let tables = [Table { cases: vec![case], ..table.clone() }];
            let core = vec![core::answers(ruleset, &tables[0])];
            let gate = Answer { exchange: Some(exchange.clone()), ..Answer::default() };
            let report = against_core("the gate", &tables, &core, &vec![vec![Ok(gate)]]);
            if report.is_empty() {
                return;
            }
            problems.push_str(&report);
        }
        self.fail(format!("a wrong answer, {exchange:?}: {problems}"));
    }

    /// A request that was not answered: the fault of who killed its process, or a failure.
    pub(crate) fn unanswered(&self, since: Moment, why: &str) {
        if self.kills.load(Ordering::SeqCst) == since.kills && since.kills.is_multiple_of(2) {
            self.fail(format!("no answer: {why}"));
        } else {
            self.count("requests lost with a killed process");
        }
    }

    /// Counts what a client did or saw.
    pub(crate) fn count(&self, what: &'static str) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(what).or_default() += 1;
    }

    /// Counts an answer that was compared with what it should be.
    pub(crate) fn check_counted(&self, what: &'static str) {
        self.checked.fetch_add(1, Ordering::Relaxed);
        self.count(what);
    }

    pub(crate) fn fail(&self, failure: String) {
        eprintln!("soak: {failure}");
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() < REPORTED {
            failures.push(failure);
        }
    }

    /// The failures.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if self.checked.load(Ordering::Relaxed) == 0 {
            problems.push("no answer was checked".to_owned());
        }
        problems
    }

    /// A table of what the clients did and saw.
    pub(crate) fn report(&self) -> String {
        table("clients", &self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A table of counts.
pub(crate) fn table(of: &str, counts: &BTreeMap<&'static str, usize>) -> String {
    let mut text = format!("| {of} | times |\n|---|---|\n");
    for (what, times) in counts {
        let _ = writeln!(text, "| {what} | {times} |");
    }
    text
}
