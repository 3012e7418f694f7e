//! The table of cases: each gives the decision that it says, and the same one, whichever way it is put.

use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use crawlpike_tests::cases::Table;
use crawlpike_tests::envoy::Filter;
use crawlpike_tests::runners::{Cli, Core, Envoy, Nginx, Runner};
use crawlpike_tests::verdict::{Answers, against_core, against_table};

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(Table::all);

/// A runner's answers, which two tests ask for: it runs once.
struct Once<R> {
    runner: R,
    answers: OnceLock<Answers>,
}

impl<R: Runner> Once<R> {
    const fn new(runner: R) -> Self {
        Self { runner, answers: OnceLock::new() }
    }

    fn answers(&self) -> &Answers {
        self.answers.get_or_init(|| self.runner.run(&TABLES))
    }

    /// The answers are those of the table and, in what it does not say, those of the core.
    fn check(&self) {
        let (name, answers) = (self.runner.name(), self.answers());
        let report =
            against_table(name, &TABLES, answers) + &against_core(name, &TABLES, CORE.answers(), answers);
        assert!(report.is_empty(), "{report}");
    }
}

static CORE: Once<Core> = Once::new(Core);
static CLI: Once<Cli> = Once::new(Cli);
static NGINX: Once<Nginx> = Once::new(Nginx);
static WASM: Once<Envoy> = Once::new(Envoy(Filter::Wasm));
static NATIVE: Once<Envoy> = Once::new(Envoy(Filter::Native));

#[test]
fn core() {
    CORE.check();
}

#[test]
fn cli() {
    CLI.check();
}

#[test]
fn nginx() {
    NGINX.check();
}

#[test]
fn envoy_wasm() {
    WASM.check();
}

#[test]
fn envoy_native() {
    NATIVE.check();
}

#[test]
fn the_table_is_complete() {
    let cases: Vec<_> = TABLES.iter().flat_map(|table| &table.cases).collect();
    assert!(cases.len() >= 60, "only {} cases", cases.len());
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "two cases have one name");
    let found: BTreeSet<&str> =
        cases.iter().filter_map(|case| case.expect.get("identity")?.as_str()).collect();
    let identities = ["verified", "spoofed", "unverified", "undeclared", "generic", "none"];
    assert_eq!(found, BTreeSet::from(identities), "each identity has a case");
    let shown: BTreeSet<&str> = cases.iter().flat_map(|case| &case.shows).map(String::as_str).collect();
    let of_robots_tag = ["TAG-1", "TAG-2", "TAG-3", "TAG-4", "TAG-5", "TAG-6", "TAG-7", "TAG-9", "TAG-10"];
    assert!(of_robots_tag.iter().all(|id| shown.contains(id)), "each requirement on Robots-Tag has a case");
    let of_usage = (1..=14).filter(|number| *number != 12).map(|number| format!("USE-{number}"));
    let lacking: Vec<String> = of_usage.filter(|id| !shown.contains(id.as_str())).collect();
    assert!(lacking.is_empty(), "without a case: {lacking:?}");
}
