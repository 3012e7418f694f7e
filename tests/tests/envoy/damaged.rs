//! Configurations that were damaged on their way: refused and counted, and what ran keeps running.

use crawlpike_tests::envoy::{
    Filter, Gate, RESOURCE, plugin_configuration, read_resource, replace_configuration,
};
use crawlpike_tests::lab::{lab, person, spoofed, verified};
use crawlpike_tests::process::wait_for;

/// Base64 in which characters from `at` on stand instead of those that were there, so that the bytes change.
fn altered(base64: &str, at: usize, with: &str) -> String {
    let altered = format!("{}{with}{}", &base64[..at], &base64[at + with.len()..]);
    assert_ne!(altered, base64);
    altered
}

for_both_gates!(a_damaged_ruleset_is_refused_and_counted_and_the_old_one_stays);

fn a_damaged_ruleset_is_refused_and_counted_and_the_old_one_stays(filter: Filter) {
    let folder = lab();
    let resource = folder.path().join(RESOURCE);
    filter.write_resource(&folder.path().join("crawlpike.json"), &resource);
    let mut good = read_resource(&resource);
    let base64 = plugin_configuration(&mut good).as_str().expect("a ruleset in base64");
    let gate = Gate::discover(folder, RESOURCE);

    let whole = base64.trim_end_matches('=').len();
    let flipped = |at: usize| altered(base64, at, if &base64[at..=at] == "A" { "B" } else { "A" });
    // Six words of four bytes stand before the rest: what it is, the version, lengths in words and bytes, a checksum.
    // Three bytes are four characters.
    let mut damaged = vec![
        ("another version", altered(base64, 6, "7")),
        ("more words than there are", altered(base64, 11, "////")),
        ("a small part of 4 GB", altered(base64, 17, "////")),
        ("another checksum", flipped(24)),
        ("nothing", String::new()),
        ("a header and no more", base64[..32].to_owned()),
        ("a cut header", base64[..12].to_owned()),
        ("a half", base64[..base64.len() / 8 * 4].to_owned()),
        ("a word more", format!("{}AAAAAAAA", &base64[..whole / 4 * 4])),
        ("no ruleset at all", altered(base64, 0, "AAAA")),
    ];
    let rest = 34..whole - 4;
    for part in 0..8 {
        damaged.push(("a bit elsewhere", flipped(rest.start + part * rest.len() / 8)));
    }
    for (refused, (what, configuration)) in (1..).zip(damaged) {
        replace_configuration(gate.folder(), &configuration);
        wait_for(what, || (gate.envoy.update_count("update_rejected") == refused).then_some(()));
        assert_eq!(gate.envoy.update_count("config_fail"), refused, "{what}");
        assert_eq!((gate.status(&verified("/")), gate.status(&spoofed("/"))), (200, 403), "{what}");
        assert_eq!(gate.status(&person("/")), 200, "{what}");
    }
    let log = gate.folder().read("envoy.log");
    for found in ["of format", "cut short or has bytes added", "was altered", "is corrupt"] {
        assert!(log.contains(found), "{found:?} in {log}");
    }
    assert!(!log.contains("panicked"), "{log}");
}
