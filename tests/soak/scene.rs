//! nginx with its origin, the rulesets that are or were in force, and what was seen.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use crawlward_core::Ruleset;
use crawlward_files::FilesBeside;
use crawlward_tests::cases::Table;
use crawlward_tests::nginx::{Folder, Nginx};
use crawlward_tests::origin::Origin;
use crawlward_tests::ports::free_port;
use crawlward_tests::proc::{children, title};
use crawlward_tests::runners::{Answer, Exchange, core};
use crawlward_tests::verdict::against_core;
use rustix::process::Pid;
use serde_json::{Value, json};

/// How many workers nginx has.
pub(crate) const WORKERS: usize = 2;

/// How many failures are told: one cause often has thousands of them.
const TOLD: usize = 20;

/// The set-up that all threads share.
pub(crate) struct Scene {
    pub(crate) nginx: Nginx,
    _origin: Origin,
    pub(crate) port: u16,
    /// Every ruleset that nginx was given, in order.
    rulesets: RwLock<Vec<InForce>>,
    /// The first one that a worker that takes connections may still have.
    oldest: AtomicUsize,
    /// Counted up before and after a worker is killed.
    pub(crate) kills: AtomicUsize,
    over: AtomicBool,
    failures: Mutex<Vec<String>>,
    /// Answers that were compared with the core's decision.
    pub(crate) checked: AtomicUsize,
    /// Answers that a killed worker did not give.
    lost: AtomicUsize,
    /// What was sent that is no request.
    pub(crate) nonsense: AtomicUsize,
}

/// A ruleset with the document that it was compiled from, as a table without cases.
struct InForce {
    table: Table,
    ruleset: Ruleset,
}

/// What could answer a request, as seen when its connection was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    oldest: usize,
    kills: usize,
}

impl Scene {
    /// Starts nginx with the first document.
    pub(crate) fn start() -> Self {
        let (folder, origin, port) = (Folder::new(), Origin::start(), free_port());
        crate::events::write_first(&folder);
        let http = format!(
            "crawlward_config crawlward.json;
            crawlward_log_level info;
            set_real_ip_from 127.0.0.1;
            real_ip_header X-Forwarded-For;
            underscores_in_headers on;
            large_client_header_buffers 4 16k;
            client_header_timeout 3s;
            keepalive_timeout 3s;
            server {{
                listen 127.0.0.1:{port} backlog=1024;
                proxy_buffer_size 64k;
                proxy_buffers 4 64k;
                location / {{ proxy_pass http://127.0.0.1:{origin}; }}
                location = /status {{ crawlward_status; }}
            }}",
            origin = origin.port()
        );
        let scene = Self {
            nginx: Nginx::start(folder, &http),
            _origin: origin,
            port,
            rulesets: RwLock::default(),
            oldest: AtomicUsize::new(0),
            kills: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            failures: Mutex::default(),
            checked: AtomicUsize::new(0),
            lost: AtomicUsize::new(0),
            nonsense: AtomicUsize::new(0),
        };
        let first = scene.compile().expect("the first document is right");
        scene.add(first);
        scene
    }

    /// The document.
    fn document(&self) -> PathBuf {
        self.nginx.folder().path().join("crawlward.json")
    }

    /// Compiles what lies in the folder, as nginx will; `None` where it will refuse it.
    pub(crate) fn compile(&self) -> Option<(Value, Ruleset)> {
        let path = self.document();
        let compiled =
            crawlward_files::compile(&path, &FilesBeside::new(&path)).expect("the document can be read");
        let text = self.nginx.folder().read("crawlward.json");
        Some((serde_json::from_str(&text).ok()?, compiled.ruleset?))
    }

    /// From now on a worker may have this ruleset.
    pub(crate) fn add(&self, (config, ruleset): (Value, Ruleset)) {
        let table = serde_json::from_value(json!({ "about": "", "config": config, "cases": [] }));
        let table = table.expect("a table without cases");
        self.rulesets.write().unwrap_or_else(PoisonError::into_inner).push(InForce { table, ruleset });
    }

    /// From now on every worker that takes connections has the newest ruleset.
    pub(crate) fn only_newest(&self) {
        let count = self.rulesets.read().unwrap_or_else(PoisonError::into_inner).len();
        self.oldest.store(count - 1, Ordering::SeqCst);
    }

    /// nginx's master.
    pub(crate) fn master(&self) -> i32 {
        Pid::as_raw(Some(self.nginx.server().pid()))
    }

    /// The workers that take connections.
    pub(crate) fn workers(&self) -> Vec<i32> {
        let takes = |pid: &i32| {
            let title = title(*pid);
            title.contains("worker process") && !title.contains("shutting down")
        };
        children(self.master()).into_iter().filter(takes).collect()
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
        self.checked.fetch_add(1, Ordering::Relaxed);
        let rulesets = self.rulesets.read().unwrap_or_else(PoisonError::into_inner);
        let mut problems = String::new();
        for InForce { table, ruleset } in rulesets.iter().skip(since.oldest) {
            let case = serde_json::from_value(case.clone()).expect("a case");
            let tables = [Table { cases: vec![case], ..table.clone() }];
            let core = vec![core::answers(ruleset, &tables[0])];
            let gate = Answer { facts: [].into(), exchange: Some(exchange.clone()) };
            let report = against_core("nginx", &tables, &core, &vec![vec![Ok(gate)]]);
            if report.is_empty() {
                return;
            }
            problems.push_str(&report);
        }
        self.fail(format!("a wrong answer, {exchange:?}: {problems}"));
    }

    /// A request that was not answered: the fault of who killed its worker, or a failure.
    pub(crate) fn unanswered(&self, since: Moment, why: &str) {
        if self.kills.load(Ordering::SeqCst) == since.kills && since.kills.is_multiple_of(2) {
            self.fail(format!("no answer: {why}"));
        } else {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn fail(&self, failure: String) {
        eprintln!("soak: {failure}");
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() < TOLD {
            failures.push(failure);
        }
    }

    pub(crate) fn failures(&self) -> Vec<String> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the clients did.
    pub(crate) fn report(&self) -> String {
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        format!(
            "{} answers checked against the core; {} requests lost with a killed worker; {} connections with nonsense.\n",
            count(&self.checked),
            count(&self.lost),
            count(&self.nonsense)
        )
    }
}
