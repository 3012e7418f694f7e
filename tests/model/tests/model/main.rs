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
    // JAFAR-9, JAFAR-13, JAFAR-18, JAFAR-23
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
    // ROB-3, ROB-7
    compare(&paths::one_rule(), (17, 41));
}

#[test]
fn two_rules() {
    // ROB-2, ROB-3, ROB-7
    compare(&paths::two_rules(), (101, 41));
}

#[test]
fn lines() {
    // ROB-1, ROB-4, ROB-5, USE-11
    compare(&paths::lines(), (307, 1));
}

#[test]
fn two_groups() {
    // AUTO-11, AUTO-12, AUTO-13, AUTO-14
    compare(&preferences::two_groups(), (211, 3));
}

#[test]
fn one_group() {
    // AUTO-3, AUTO-6, AUTO-7, AUTO-8, AUTO-10, AUTO-21, AUTO-22
    compare(&preferences::one_group(), (5, 101));
}

#[test]
fn usage() {
    // USE-1, USE-2, USE-4, USE-5, USE-6, USE-7, USE-9, USE-13
    compare(&usage::family(), (307, 5));
}

#[test]
fn versions() {
    // JAFAR-24
    compare(&feeds::versions(), (211, 7));
}

#[test]
fn places() {
    // GEO-1, GEO-2, GEO-3, GEO-4, GEO-6, GEO-7, GEO-9, GEO-10, GEO-11, GEO-12, GEO-13, GEO-15
    compare(&feeds::places(), (1009, 1));
}

#[test]
fn scopes() {
    compare(&tags::scopes(), (3, 1));
}

#[test]
fn lines_of_robots_tag() {
    // TAG-1, TAG-2, TAG-3, TAG-4, TAG-6, TAG-10
    check("lines of Robots-Tag", &tags::compare_lines(if is_whole() { 1 } else { 31 }));
}

#[test]
fn random_worlds() {
    random::compare();
}
