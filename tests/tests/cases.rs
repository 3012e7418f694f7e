//! The table of cases: each gives the decision that it says, and the same one, whichever way it is put.

use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use crawlpike_tests::cases::{Case, Table};
use crawlpike_tests::envoy::Filter;
use crawlpike_tests::runners::{Answer, Cli, Core, Envoy, ExtAuthz, Forward, Nginx, Runner};
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
        self.check_what_is_carried(|_, _| false);
    }

    /// The same, without the cases that a proxy cannot carry out by the answer to its question. Returns the names of these.
    fn check_what_is_carried(&self, is_lost: impl Fn(&Case, &Answer) -> bool) -> Vec<String> {
        let (mut tables, mut core, mut answers) =
            (TABLES.clone(), CORE.answers().clone(), self.answers().clone());
        let mut lost = Vec::new();
        for ((table, core), answers) in tables.iter_mut().zip(&mut core).zip(&mut answers) {
            let is_lost = |(case, decided): (&Case, &Result<Answer, String>)| {
                decided.as_ref().is_ok_and(|decided| is_lost(case, decided))
            };
            let lost_here: Vec<bool> = table.cases.iter().zip(&*core).map(is_lost).collect();
            let names = table.cases.iter().zip(&lost_here).filter(|(_, is_lost)| **is_lost);
            lost.extend(names.map(|(case, _)| case.name.clone()));
            keep(&mut table.cases, &lost_here);
            keep(core, &lost_here);
            keep(answers, &lost_here);
        }
        let name = self.runner.name();
        let report = against_table(name, &tables, &answers) + &against_core(name, &tables, &core, &answers);
        assert!(report.is_empty(), "{report}");
        lost
    }
}

fn keep<T>(list: &mut Vec<T>, lost: &[bool]) {
    let mut lost = lost.iter();
    list.retain(|_| lost.next() == Some(&false));
}

/// A response that has what both an upstream and the site say in one header: an answer to a question comes before the response.
fn is_united(case: &Case, _: &Answer) -> bool {
    !case.upstream.is_empty() || case.request.path == "/server/tagged"
}

/// A policy that the gate serves: a permission has no body.
fn is_served(_: &Case, decided: &Answer) -> bool {
    decided.facts["action"] == "serve" && decided.facts["enforced"] == true
}

static CORE: Once<Core> = Once::new(Core);
static CLI: Once<Cli> = Once::new(Cli);
static NGINX: Once<Nginx> = Once::new(Nginx);
static WASM: Once<Envoy> = Once::new(Envoy(Filter::Wasm));
static NATIVE: Once<Envoy> = Once::new(Envoy(Filter::Native));
static EXT_AUTHZ: Once<ExtAuthz> = Once::new(ExtAuthz);
static FORWARD: Once<Forward> = Once::new(Forward);

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
fn serve_ext_authz() {
    let lost = EXT_AUTHZ.check_what_is_carried(is_united);
    println!("not carried: {lost:#?}");
    assert_eq!(lost.len(), 24);
}

#[test]
fn serve_forward_auth() {
    let lost =
        FORWARD.check_what_is_carried(|case, decided| is_united(case, decided) || is_served(case, decided));
    println!("not carried: {lost:#?}");
    assert_eq!(lost.len(), 76);
}

/// A permission of forward-auth has what is known of automated clients, and no place for more.
#[test]
fn all_but_forward_auth_show_the_facts_about_clients() {
    let shown = [
        CORE.answers(),
        CLI.answers(),
        NGINX.answers(),
        WASM.answers(),
        NATIVE.answers(),
        EXT_AUTHZ.answers(),
    ];
    for answers in shown {
        let answers = TABLES.iter().zip(answers).flat_map(|(table, answers)| table.cases.iter().zip(answers));
        for (case, answer) in answers.filter(|(case, _)| !case.facts.is_empty()) {
            let client = answer.as_ref().ok().and_then(|answer| answer.client.as_ref());
            assert!(
                client.is_some_and(|client| client.contains_key("crowd_key")),
                "{}: {answer:?}",
                case.name
            );
        }
    }
    let mut forward = FORWARD.answers().iter().flatten().flatten();
    assert!(forward.all(|answer| answer.client.is_none()));
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
