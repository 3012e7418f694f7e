//! The cost of compiling a configuration: memory in proportion to the document and its files, whatever is in them.
//!
//! The only test of its program, so that no other one allocates beside it. Memory is counted, and time is not. But the
//! lists are so long that a compiler which compares all with all takes minutes here.

use std::alloc::System;
use std::fmt::Write;

use crawlpike_core::{Compiled, NoFiles, Ruleset};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A configuration that costs much, as far as anybody has found one.
struct Bomb {
    name: &'static str,
    /// The size of the greater one of two.
    size: usize,
    /// The expected error, if it is refused.
    refused: Option<&'static str>,
    document: fn(usize) -> String,
}

/// The most bytes that are allocated for a byte of the document, those included that are freed at once.
const MOST_BYTES_FOR_A_BYTE: usize = 160;

const BOMBS: &[Bomb] = &[
    Bomb {
        name: "agents",
        size: 20_000,
        refused: None,
        document: |n| format!(r#"{{ "agents": [{}] }}"#, list(n, |i| format!(r#"{{"token":"agent-{i}"}}"#))),
    },
    Bomb {
        name: "agents with one token",
        size: 30_000,
        refused: Some("duplicate token `agent`"),
        document: |n| format!(r#"{{ "agents": [{}] }}"#, list(n, |_| r#"{"token":"agent"}"#.into())),
    },
    Bomb {
        name: "agents, each with services, of a feed with as many",
        size: 10_000,
        refused: None,
        document: |n| {
            let prefix = |i: usize| {
                format!(r#"{{\"ipv4Prefix\":\"10.{}.{}.0/24\",\"service\":\"s{i}\"}}"#, i / 256, i % 256)
            };
            format!(
                r#"{{ "feeds": [{{"name":"f","format":"jafar","source":"f"}}], "agents": [{}],
                    "files": {{"f":{{"text":"{{\"prefixes\":[{}]}}"}}}} }}"#,
                list(n, |i| format!(r#"{{"token":"agent-{i}","feeds":["f"],"services":["s1"]}}"#)),
                list(n, prefix)
            )
        },
    },
    Bomb {
        name: "agents that name feeds that are not there",
        size: 20_000,
        refused: Some("unknown feed `fead-0` (did you mean `feed-0`?)"),
        document: |n| {
            format!(
                r#"{{ "feeds": [{}], "agents": [{}], "files": {{"f":{{"text":"192.0.2.0/24"}}}} }}"#,
                list(n, |i| format!(r#"{{"name":"feed-{i}","format":"cidr","source":"f"}}"#)),
                list(n, |i| format!(r#"{{"token":"agent-{i}","feeds":["fead-{i}"]}}"#))
            )
        },
    },
    Bomb {
        name: "feeds, each with an agent",
        size: 20_000,
        refused: None,
        document: |n| {
            let feed = |i| {
                format!(r#"{{"name":"feed-{i}","format":"cidr","source":"{i}","url":"https://x.test/{i}"}}"#)
            };
            format!(
                r#"{{ "feeds": [{}], "agents": [{}], "files": {{{}}} }}"#,
                list(n, feed),
                list(n, |i| format!(r#"{{"token":"agent-{i}","feeds":["feed-{i}"]}}"#)),
                list(n, |i| format!(r#""{i}":{{"text":"192.0.2.0/24"}}"#))
            )
        },
    },
    Bomb {
        name: "feeds without files",
        size: 30_000,
        refused: None,
        document: |n| {
            let feed = |i| format!(r#"{{"name":"feed-{i}","format":"cidr","source":"f{i}"}}"#);
            format!(r#"{{ "feeds": [{}] }}"#, list(n, feed))
        },
    },
    Bomb {
        name: "sites and agents, where each site has a policy for each agent",
        size: 10_000,
        refused: None,
        document: |n| {
            format!(
                r#"{{ "agents": [{}], "sites": [{}], "files": {{"r":{{"text":"User-agent: agent\nDisallow: /x"}}}} }}"#,
                list(n, |i| format!(r#"{{"token":"agent {i}"}}"#)),
                list(n, |i| format!(r#"{{"hosts":["h{i}.test"],"robots_txt":"r"}}"#))
            )
        },
    },
    Bomb {
        name: "sites, each with policies of its own",
        size: 5_000,
        refused: None,
        document: |n| {
            let site = |i| {
                format!(r#"{{"hosts":["h{i}.test"],"robots_txt":"r{i}","automation_preferences":"p{i}"}}"#)
            };
            let files = |i| {
                format!(
                    r#""r{i}":{{"text":"User-agent: GPTBot\nDisallow: /x"}},
                        "p{i}":{{"text":"scope: /\nallowed-methods: GET\nallowed-purposes: search\n\n"}}"#
                )
            };
            format!(r#"{{ "sites": [{}], "files": {{ {} }} }}"#, list(n, site), list(n, files))
        },
    },
    Bomb {
        name: "sites with one file that is refused",
        size: 20_000,
        refused: Some("this is HTML, not a robots.txt"),
        document: |n| {
            format!(
                r#"{{ "sites": [{}], "files": {{"r":{{"text":"<html>{}"}}}} }}"#,
                list(n, |i| format!(r#"{{"hosts":["h{i}.test"],"robots_txt":"r"}}"#)),
                " ".repeat(n)
            )
        },
    },
    Bomb {
        name: "hosts",
        size: 30_000,
        refused: None,
        document: |n| {
            format!(r#"{{ "sites": [{{ "hosts": [{}] }}] }}"#, list(n, |i| format!(r#""h{i}.test""#)))
        },
    },
    Bomb {
        name: "sites with one host",
        size: 20_000,
        refused: Some("duplicate host `h.test`"),
        document: |n| format!(r#"{{ "sites": [{}] }}"#, list(n, |_| r#"{"hosts":["h.test"]}"#.into())),
    },
    Bomb {
        name: "a key of megabytes",
        size: 20_000_000,
        refused: Some("unknown key `kkkkkkkk"),
        document: |n| format!(r#"{{ "{}": 1 }}"#, "k".repeat(n)),
    },
    Bomb {
        name: "a key of megabytes above many others",
        size: 1_000_000,
        refused: Some("unknown key `files.kkkkkkkk"),
        document: |n| {
            let others = list(n / 20, |i| format!(r#""u{i}":1"#));
            format!(r#"{{ "files": {{ "{}": {{ "text": "", {others} }} }} }}"#, "k".repeat(n))
        },
    },
    Bomb {
        name: "a host of megabytes",
        size: 20_000_000,
        refused: Some("not a valid host name"),
        document: |n| format!(r#"{{ "sites": [{{ "hosts": ["{}"] }}] }}"#, "k".repeat(n)),
    },
    Bomb {
        name: "scopes that nest, each with another rule",
        size: 3_000,
        refused: Some("more than 1048576 bytes in all combinations"),
        document: |n| {
            let tag = |i| format!(r#"{{"scope":"/{}","rules":"rule-{i}"}}"#, "a".repeat(i));
            format!(r#"{{ "sites": [{{ "robots_tag": [{}] }}] }}"#, list(n, tag))
        },
    },
    Bomb {
        name: "scopes that nest, with one rule",
        size: 3_000,
        refused: None,
        document: |n| {
            let tag = |i| format!(r#"{{"scope":"/{}","rules":"noindex"}}"#, "a".repeat(i));
            format!(r#"{{ "sites": [{{ "robots_tag": [{}] }}] }}"#, list(n, tag))
        },
    },
    Bomb {
        name: "scopes of modes, with all that a pattern can have",
        size: 10_000,
        refused: None,
        document: |n| {
            let mode = |i| format!(r#"{{"scope":"/*a{i}*%3A","mode":"off"}}"#);
            format!(r#"{{ "sites": [{{ "modes": [{}] }}] }}"#, list(n, mode))
        },
    },
    Bomb {
        name: "groups of a robots.txt",
        size: 30_000,
        refused: None,
        document: |n| {
            let groups = (0..n).fold(String::new(), |mut text, i| {
                let _ = write!(text, r"User-agent: a\nUser-agent: a{i}\nDisallow: /\n");
                text
            });
            format!(r#"{{ "sites": [{{ "robots_txt": "r" }}], "files": {{"r":{{"text":"{groups}"}}}} }}"#)
        },
    },
];

fn list(length: usize, item: impl Fn(usize) -> String) -> String {
    (0..length).map(item).collect::<Vec<_>>().join(",")
}

/// The result of compiling, and the number of bytes that it allocates.
fn compile(document: &str) -> (Compiled, usize) {
    let region = Region::new(ALLOCATOR);
    let compiled = Ruleset::compile("c.json", document.as_bytes(), &NoFiles);
    (compiled, region.change().bytes_allocated)
}

#[test]
fn compiling_takes_memory_in_proportion_to_the_document() {
    // The catalog, and what else has no size of its own.
    let (_, fixed) = compile("{}");
    assert!(fixed > 0, "the allocator counts");
    let mut too_much = String::new();
    for Bomb { name, size, refused, document } in BOMBS {
        let [half, whole] = [size / 2, *size].map(|size| {
            let document = document(size);
            let (compiled, bytes) = compile(&document);
            let said: Vec<String> = compiled.diagnostics.iter().map(ToString::to_string).collect();
            match refused {
                None => assert!(compiled.ruleset.is_some(), "{name}: {:?}", said.first()),
                Some(why) => {
                    assert!(said.iter().any(|said| said.contains(why)), "{name}: {:?}", said.first());
                }
            }
            assert!(said.iter().all(|said| said.len() < 5500), "{name}: nothing is echoed whole");
            (document.len(), bytes.saturating_sub(fixed))
        });
        let for_a_byte = whole.1 / whole.0;
        println!("{for_a_byte:5} {:10} {:10} {name}", whole.0, whole.1);
        // Maps grow by doubling, which may take place between the two.
        let growth = (whole.1 as f64 / half.1 as f64) / (whole.0 as f64 / half.0 as f64);
        if for_a_byte > MOST_BYTES_FOR_A_BYTE || growth > 1.3 {
            let _ = writeln!(
                too_much,
                "{name}: {for_a_byte} bytes for a byte, {growth:.2} times as many for twice as many"
            );
        }
    }
    assert_eq!(too_much, "");
}
