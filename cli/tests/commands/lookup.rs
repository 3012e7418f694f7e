use serde_json::{Value, json};

use crate::fixture::{Folder, GOOGLEBOT, WARNING};

/// A folder in which the partners' feed has services, remarks, and a prefix around Googlebot's.
fn folder() -> Folder {
    let folder = Folder::new();
    let partners = json!({
        "notes": "call us",
        "prefixes": [ { "ipv4Prefix": "66.249.64.0/20", "service": "crawl" }, { "ipv6Prefix": "2001:db8::/32" } ],
    });
    folder.write("partners.json", partners.to_string());
    let config = folder.read("crawlpike.json");
    folder.write(
        "crawlpike.json",
        config.replace(r#""cidr", "source": "partners.txt""#, r#""jafar", "source": "partners.json""#),
    );
    folder
}

#[test]
fn every_feed_of_an_address_is_shown_the_longest_prefix_first() {
    let addresses = [GOOGLEBOT, "::ffff:66.249.64.9", "2001:db8::1", "192.0.2.1"];
    let expected = r#"66.249.66.1 googlebot 66.249.66.0/27
66.249.66.1 partners 66.249.64.0/20 service="crawl" notes="call us"
::ffff:66.249.64.9 googlebot 66.249.64.0/27
::ffff:66.249.64.9 partners 66.249.64.0/20 service="crawl" notes="call us"
2001:db8::1 partners 2001:db8::/32 notes="call us"
"#;
    folder()
        .run(&[&["lookup", "--config", "crawlpike.json"], &addresses[..]].concat())
        .ends(0)
        .prints_only(expected);
}

#[test]
fn json_has_one_object_an_address() {
    let done = folder().run(&["lookup", "--config", "crawlpike.json", "--json", GOOGLEBOT, "192.0.2.1"]);
    let answers: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let facts = |network: &str| facts(network, (Value::Null, Value::Null));
    assert_eq!(
        answers,
        [
            json!({ "address": GOOGLEBOT, "facts": facts("66.249.66.0/24"), "findings": [
                { "feed": "googlebot", "prefix": "66.249.66.0/27", "service": null, "notes": null },
                { "feed": "partners", "prefix": "66.249.64.0/20", "service": "crawl", "notes": "call us" },
            ] }),
            json!({ "address": "192.0.2.1", "facts": facts("192.0.2.0/24"), "findings": [] }),
        ]
    );
}

/// Of an address alone, nothing is known of the path and the browser.
fn facts(network: &str, (asn, name): (Value, Value)) -> Value {
    json!({ "network": network, "asn": asn, "as_name": name, "as_kind": null, "costly": false, "browser": "unknown" })
}

#[test]
fn json_has_the_system_that_a_table_names() {
    let folder = Folder::new();
    folder.write(
        "crawlpike.json",
        r#"{ "catalog": "none", "network_bits": { "v6": 33 },
             "networks": [ { "name": "as", "format": "iptoasn", "source": "as.tsv" } ] }"#,
    );
    folder.write("as.tsv", "192.0.2.0\t192.0.2.255\t64500\tUS\tThe \"first\"\n");
    let system = || (64500.into(), "The 'first'".into());
    for (address, expected) in [
        ("192.0.2.1", facts("192.0.2.0/24", system())),
        ("64:ff9b::192.0.2.1", facts("192.0.2.0/24", system())),
        ("::ffff:192.0.2.1", facts("192.0.2.0/24", system())),
        ("2001:db8:8000::1", facts("2001:db8:8000::/33", (Value::Null, Value::Null))),
    ] {
        let json = folder.run(&["lookup", "--config", "crawlpike.json", "--json", address]).stdout;
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["facts"], expected, "{address}");
    }
}

#[test]
fn exempt_addresses_are_looked_up_and_explained() {
    let folder = Folder::new();
    folder.write(
        "crawlpike.json",
        r#"{ "catalog": "none", "exempt": ["192.0.2.0/28"],
             "sites": [ { "hosts": ["shop.test"], "exempt": [ { "feed": "lab" } ] } ],
             "feeds": [ { "name": "lab", "format": "cidr", "source": "lab" } ],
             "files": { "lab": { "text": "198.51.100.0/24\n" } } }"#,
    );
    let lookup = ["lookup", "--config", "crawlpike.json"];
    folder.run(&[&lookup[..], &["192.0.2.1", "198.51.100.1", "192.0.2.16"]].concat()).ends(0).prints_only(
        "192.0.2.1 exempt: 192.0.2.0/28\n\
         198.51.100.1 lab 198.51.100.0/24\n\
         198.51.100.1 exempt: 198.51.100.0/24 feed=\"lab\" site=\"shop.test\"\n",
    );
    let json = folder.run(&[&lookup[..], &["--json", "192.0.2.1"]].concat()).stdout;
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["exempt"], json!([{ "prefix": "192.0.2.0/28", "feed": null, "site": null }]));
    let explain =
        ["explain", "--config", "crawlpike.json", "--host", "shop.test", "--user-agent", "curl/8", "--ip"];
    let done = folder.run(&[&explain[..], &["198.51.100.1"]].concat());
    let text = done.stdout;
    assert!(text.starts_with("allow: exempt, identity undeclared\n"), "{text}");
    assert!(text.contains("\nexempt    198.51.100.0/24 feed=\"lab\" site=\"shop.test\"\n"), "{text}");
    assert!(text.contains(" (a feed that exempts clients)\n"), "{text}");
}

#[test]
fn addresses_come_from_stdin_and_bad_ones_do_not_stop_it() {
    let input = format!("nonsense\n\n {GOOGLEBOT}\r\n");
    let lookup = ["lookup", "--config", "crawlpike.json", "--stdin", "--json"];
    Folder::new()
        .run_with(&lookup[..4], &input)
        .ends(2)
        .prints_only("66.249.66.1 googlebot 66.249.66.0/27\n")
        .says_only(&format!("{WARNING}<stdin>:1:1: error: not an IP address\n"));
    let done = Folder::new().run_with(&lookup, &input);
    assert!(done.stdout.starts_with("{\"error\":\"<stdin>:1:1: error: not an IP address\"}\n"), "{done:?}");
}

#[test]
fn wrong_arguments_and_configurations_end_with_2() {
    let folder = Folder::new();
    let lookup = ["lookup", "--config", "crawlpike.json"];
    for addresses in [&[][..], &["nonsense"], &["192.0.2.0/24"], &["--stdin", "::1"]] {
        assert_eq!(folder.run(&[&lookup[..], addresses].concat()).status, 2, "{addresses:?}");
    }
    folder.write("crawlpike.json", "");
    assert_eq!(folder.run(&["lookup", "--config", "crawlpike.json", "::1"]).status, 2);
}
