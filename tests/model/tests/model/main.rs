//! The core against the model of its decisions: every world of some bounded families, and random larger ones.

mod agents;
mod feeds;
mod harness;
mod paths;
mod preferences;
mod random;
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
    compare(&agents::family(), (13, 151));
}

#[test]
fn treatments() {
    compare(&sites::treatments(), (5, 101));
}

#[test]
fn modes() {
    compare(&sites::modes(), (1, 401));
}

#[test]
fn one_rule() {
    compare(&paths::one_rule(), (17, 41));
}

#[test]
fn two_rules() {
    compare(&paths::two_rules(), (101, 41));
}

#[test]
fn lines() {
    compare(&paths::lines(), (307, 1));
}

#[test]
fn two_groups() {
    compare(&preferences::two_groups(), (211, 3));
}

#[test]
fn one_group() {
    compare(&preferences::one_group(), (5, 101));
}

#[test]
fn usage() {
    compare(&usage::family(), (307, 5));
}

#[test]
fn versions() {
    compare(&feeds::versions(), (211, 7));
}

#[test]
fn places() {
    compare(&feeds::places(), (1009, 1));
}

#[test]
fn scopes() {
    compare(&tags::scopes(), (3, 1));
}

#[test]
fn lines_of_robots_tag() {
    check("lines of Robots-Tag", &tags::compare_lines(if is_whole() { 1 } else { 31 }));
}

#[test]
fn random_worlds() {
    random::compare();
}
