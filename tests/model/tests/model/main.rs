//! The core against the model of its decisions: every world of some bounded families, and random larger ones.

mod agents;
mod feeds;
mod harness;
mod paths;
mod preferences;
mod signing;
mod sites;
mod tags;
mod usage;

use std::env;

use harness::{Family, Report};

/// The whole, for `make model`; otherwise a share.
fn is_whole() -> bool {
    env::var_os("CRAWLPIKE_MODEL").is_some_and(|part| part == "whole")
}

fn compare(family: &Family, share: (usize, usize)) {
    let (world_step, client_step) = if is_whole() { (1, 1) } else { share };
    check(family.name, &family.compare(world_step, client_step));
}

fn check(name: &str, report: &Report) {
    println!("{name}: {} worlds of {} configurations", report.worlds, report.configurations);
    assert!(report.differences.is_empty(), "{}", report.differences);
}

#[test]
fn agents() {
    compare(&agents::family(), (7, 101));
}

#[test]
fn sites() {
    compare(&sites::family(), (37, 1009));
}

#[test]
fn one_rule() {
    compare(&paths::one_rule(), (29, 41));
}

#[test]
fn two_rules() {
    compare(&paths::two_rules(), (307, 41));
}

#[test]
fn lines() {
    compare(&paths::lines(), (5003, 1));
}

#[test]
fn preferences() {
    compare(&preferences::family(), (200_003, 31));
}

#[test]
fn usage() {
    compare(&usage::family(), (101, 7));
}

#[test]
fn versions() {
    compare(&feeds::versions(), (701, 13));
}

#[test]
fn places() {
    compare(&feeds::places(), (50_021, 1));
}

#[test]
fn tags() {
    check("lines of Robots-Tag", &tags::compare_lines(if is_whole() { 1 } else { 7 }));
    compare(&tags::scopes(), (3, 1));
}
