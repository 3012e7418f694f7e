//! The facts about clients, from a configuration and a table to a request.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crawlpike_core::{
    AsKind, ClientFacts, Compiled, Consistency, Files, FoundFile, NoFiles, Overrides, PlainRequest, Ruleset,
    Scheme, TableBuilder, TableFormat, TableReader, decide,
};
use ipnet::IpNet;
use serde_json::{Value, json};

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// Lines with a prefix, a number, a kind or `-`, and a name.
struct Table(String);

impl Files for Table {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        Ok((path == "as").then(|| FoundFile { bytes: self.0.clone().into_bytes(), modified: Some(0) }))
    }

    fn table_reader(&self) -> Option<TableReader> {
        Some(read)
    }
}

fn read(_: TableFormat, bytes: &[u8], builder: &mut TableBuilder) -> Result<(), String> {
    assert!(bytes.len() <= builder.most_bytes());
    for (line, number) in std::str::from_utf8(bytes).unwrap().lines().zip(1..) {
        let [prefix, asn, kind, name] = *line.splitn(4, ' ').collect::<Vec<_>>() else {
            builder.unreadable(Some(number), "expected four words");
            continue;
        };
        let asn = asn.parse().unwrap();
        builder.system(asn, Some(name), AsKind::from_word(kind));
        builder.prefix(prefix.parse().unwrap(), asn)?;
    }
    Ok(())
}

fn compile(document: &Value, table: impl Into<String>) -> Compiled {
    Ruleset::compile("c.json", document.to_string().as_bytes(), &Table(table.into()))
}

fn document(more: &Value) -> Value {
    let mut document =
        json!({ "catalog": "none", "networks": [{ "name": "as", "format": "iptoasn", "source": "as" }] });
    document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    document
}

fn facts<'r>(ruleset: &'r Ruleset, request: &PlainRequest<'_>) -> ClientFacts<'r> {
    ruleset.client_facts(&decide(ruleset, request, Overrides::default()), request)
}

fn from(address: &str) -> PlainRequest<'_> {
    PlainRequest {
        address: Some(address.parse().unwrap()),
        scheme: Some(Scheme::Https),
        user_agent: Some(BROWSER.as_bytes()),
        ..PlainRequest::default()
    }
}

const TABLE: &str = "192.0.0.0/16 64500 isp Outer\n192.0.2.0/24 64501 - Inner \"A\"\\\u{1}B\n\
    192.0.3.0/24 0 isp Nobody\n192.0.4.0/24 4294967295 isp Last\n2001:db8::/32 64502 education Six\nbroken\n";

#[test]
fn the_most_specific_prefix_names_the_system_and_reserved_numbers_none() {
    let compiled = compile(&document(&json!({})), TABLE);
    let ruleset = compiled.ruleset.as_ref().unwrap();
    for (address, network, expected) in [
        ("192.0.1.255", "192.0.1.0/24", Some((64500, "Outer", Some(AsKind::Isp)))),
        ("192.0.2.7", "192.0.2.0/24", Some((64501, "Inner 'A'' B", None))),
        ("192.0.3.1", "192.0.3.0/24", Some((64500, "Outer", Some(AsKind::Isp)))),
        ("192.0.255.255", "192.0.255.0/24", Some((64500, "Outer", Some(AsKind::Isp)))),
        ("192.1.0.0", "192.1.0.0/24", None),
        ("::ffff:192.0.2.7", "192.0.2.0/24", Some((64501, "Inner 'A'' B", None))),
        ("64:ff9b::192.0.2.7", "192.0.2.0/24", Some((64501, "Inner 'A'' B", None))),
        ("2001:db8:5:6::1", "2001:db8:5::/48", Some((64502, "Six", Some(AsKind::Education)))),
        ("2001:db9::", "2001:db9::/48", None),
    ] {
        let facts = facts(ruleset, &from(address));
        assert_eq!(facts.network.unwrap().to_string(), network);
        let system = facts.asn.map(|asn| (asn, facts.as_name.unwrap(), facts.as_kind));
        assert_eq!(system, expected, "{address}");
    }
    assert_eq!(compiled.diagnostics.len(), 1, "{:?}", compiled.diagnostics);
    assert_eq!(compiled.diagnostics[0].to_string(), "as:6:1: warning: expected four words");
}

#[test]
fn what_is_configured_wrong_is_an_error_with_its_place() {
    let many = json!({ "feeds": [{ "name": "f", "format": "iptoasn", "source": "f" }] });
    let agent = json!({ "agents": [{ "token": "LabBot", "feeds": ["as"] }] });
    for (more, expected) in [
        (
            json!({ "network_bits": { "v4": 0 } }),
            "`network_bits.v4`: expected a whole number from 1 to 32, found the number 0",
        ),
        (
            json!({ "network_bits": { "v6": 0 } }),
            "`network_bits.v6`: expected a whole number from 1 to 128, found the number 0",
        ),
        (
            json!({ "network_bits": { "v6": 129 } }),
            "`network_bits.v6`: expected a whole number from 1 to 128, found",
        ),
        (json!({ "sites": [{ "costly": ["blame"] }] }), "`blame`: "),
        (
            json!({ "crowd_key": ["as_name"] }),
            "`crowd_key[0]`: unknown value `as_name` (did you mean `asn`?)",
        ),
        (json!({ "fingerprint_header": "X JA4" }), "`X JA4` is not a valid header name"),
        (many, "`feeds[0].format`: unknown value `iptoasn`"),
        (agent, "the table `as` cannot verify an agent: it says which networks announce prefixes"),
        (json!({ "exempt": [{ "feed": "as" }] }), "the table `as` cannot exempt clients"),
    ] {
        let compiled = compile(&document(&more), "");
        let said: Vec<String> = compiled.diagnostics.iter().map(ToString::to_string).collect();
        assert!(
            compiled.ruleset.is_none() && said.iter().any(|line| line.contains(expected)),
            "{more}: {said:?}"
        );
        assert!(said.iter().any(|line| line.contains("c.json:1:")), "{said:?}");
    }
    let inlined = json!({ "files": { "as": { "text": TABLE } } });
    let compiled = Ruleset::compile("c.json", document(&inlined).to_string().as_bytes(), &NoFiles);
    assert!(compiled.diagnostics[0].to_string().contains("cannot be read here: give the ruleset that"));
}

#[test]
fn the_key_of_the_crowd_spares_who_is_known_and_what_costs_little() {
    let settings = json!({
        "crowd_key": ["asn", "network", "fingerprint"],
        "fingerprint_header": "X-JA4",
        "network_bits": { "v4": 20 },
        "exempt": ["198.51.100.0/24"],
        "feeds": [{ "name": "lab", "format": "cidr", "source": "lab" }],
        "agents": [{ "token": "LabBot", "feeds": ["lab"] }],
        "files": { "lab": { "text": "192.0.2.0/24\n" } },
        "sites": [{ "hosts": ["costly.test"], "costly": ["/*/blame/", "/search?", "/archive/"] }, {}]
    });
    let ruleset = compile(&document(&settings), TABLE).ruleset.unwrap();
    let all = Some("64501 192.0.0.0/20 t13d");
    for (address, host, path, user_agent, expected) in [
        ("192.0.2.1", "a.test", "/", BROWSER, all),
        ("192.0.2.1", "a.test", "/", "LabBot/1.0", None),
        ("203.0.113.1", "a.test", "/", "LabBot/1.0", Some("- 203.0.112.0/20 t13d")),
        ("198.51.100.1", "a.test", "/", BROWSER, None),
        ("192.0.2.1", "costly.test", "/", BROWSER, None),
        ("192.0.2.1", "costly.test", "/a/b/blame/c", BROWSER, all),
        ("192.0.2.1", "costly.test", "/search?q=a", BROWSER, all),
        ("192.0.2.1", "costly.test", "/search", BROWSER, None),
        ("192.0.2.1", "costly.test", "/%61rchive/1", BROWSER, all),
        ("192.0.2.1", "costly.test", "/x/../archive/1", BROWSER, all),
        ("192.0.2.1", "costly.test", "/archive/1", "LabBot/1.0", None),
    ] {
        let request = PlainRequest {
            authority: Some(host.as_bytes()),
            path: path.as_bytes(),
            user_agent: Some(user_agent.as_bytes()),
            headers: &[("x-ja4", b"t13d")],
            ..from(address)
        };
        assert_eq!(
            facts(&ruleset, &request).crowd_key.as_deref(),
            expected,
            "{address} {host}{path} {user_agent}"
        );
    }
    let nobody = PlainRequest { address: None, ..from("192.0.2.1") };
    assert_eq!(facts(&ruleset, &nobody).crowd_key, None);
}

#[test]
fn a_browser_is_consistent_if_it_says_how_it_fetches() {
    let ruleset = compile(&json!({}), "").ruleset.unwrap();
    let plain: &[(&str, &[u8])] = &[];
    let says: &[(&str, &[u8])] = &[("sec-fetch-mode", b"navigate")];
    let upgrades: &[(&str, &[u8])] = &[("upgrade", b"websocket")];
    let (https, http) = (Some(Scheme::Https), Some(Scheme::Http));
    let bot = "Mozilla/5.0 (X11; Linux x86_64; GPTBot/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";
    for (scheme, method, headers, user_agent, expected) in [
        (https, "GET", says, BROWSER, "consistent"),
        (https, "GET", plain, BROWSER, "inconsistent"),
        (https, "POST", plain, BROWSER, "inconsistent"),
        (https, "OPTIONS", plain, BROWSER, "unknown"),
        (https, "GET", upgrades, BROWSER, "unknown"),
        (http, "GET", plain, BROWSER, "unknown"),
        (None, "GET", plain, BROWSER, "unknown"),
        (https, "GET", says, "curl/8.5.0", "unknown"),
        (https, "GET", plain, bot, "unknown"),
    ] {
        let method = method.as_bytes();
        let request = PlainRequest {
            scheme,
            method,
            headers,
            user_agent: Some(user_agent.as_bytes()),
            ..from("192.0.2.1")
        };
        assert_eq!(facts(&ruleset, &request).browser.as_str(), expected, "{method:?} {user_agent}");
    }
}

/// The requests of Chromium 156 and Firefox 153 were recorded by `tests/tests/browsers.rs`, after the rule had been written.
#[test]
fn no_request_of_a_real_browser_is_inconsistent() {
    let ruleset = compile(&json!({}), "").ruleset.unwrap();
    let (mut consistent, mut unknown) = (0, 0);
    for line in include_str!("data/requests-of-browsers.jsonl").lines() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        let headers = recorded["headers"].as_object().unwrap();
        let headers: Vec<(&str, &[u8])> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap().as_bytes())).collect();
        let without: Vec<_> = headers.iter().copied().filter(|(name, _)| *name != "sec-fetch-mode").collect();
        let browser = |headers: &[(&str, &[u8])]| {
            let method = recorded["method"].as_str().unwrap().as_bytes();
            let user_agent = headers.iter().find(|(name, _)| *name == "user-agent").map(|(_, value)| *value);
            facts(&ruleset, &PlainRequest { method, headers, user_agent, ..from("192.0.2.1") }).browser
        };
        match browser(&headers) {
            Consistency::Consistent => {
                consistent += 1;
                // Firefox says how it fetches with its reports, too.
                let is_report = line.contains("application/reports+json");
                assert_eq!(browser(&without) == Consistency::Inconsistent, !is_report, "{line}");
            }
            Consistency::Unknown => unknown += 1,
            Consistency::Inconsistent => panic!("{line}"),
        }
    }
    assert!(consistent > 50 && unknown < 20, "{consistent} {unknown}");
}

/// A table that another version has laid out otherwise would be read wrongly, and its checksum would fit.
#[test]
fn another_layout_of_what_is_stored_has_another_version() {
    let feeds = json!({
        "feeds": [{ "name": "lab", "format": "cidr", "source": "lab" }],
        "files": { "lab": { "text": "192.0.2.0/24\n2001:db8::/32\n" } },
    });
    let words = compile(&document(&feeds), TABLE).store().unwrap();
    let [_, version, _, _, low, high] = *words.first_chunk().unwrap();
    assert_eq!(
        (version, [low, high]),
        (5, [459_351_741, 3_028_217_158]),
        "raise the version of the format if its layout has changed"
    );
    for older in 1..version {
        let mut words = words.clone();
        words[1] = older;
        let refused = Compiled::load("c.bin", words);
        let expected =
            format!("a compiled ruleset of format {older}, not {version}: compile it with this version");
        assert!(refused.ruleset.is_none());
        assert_eq!(refused.diagnostics[0].to_string(), format!("c.bin: error: {expected}"));
    }
}

/// A small generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 16
    }
}

#[test]
fn the_table_says_what_a_search_through_all_prefixes_says() {
    let mut random = Random(7);
    for round in 0..60 {
        // Few systems and long common parts make prefixes lie within each other, touch and repeat.
        let (spread, systems) = ([2, 8, 20, 32][round % 4], [2, 5, 40][round % 3]);
        let mut prefixes: Vec<(IpNet, u32)> = Vec::new();
        for _ in 0..300 {
            let bits = random.next() as u32;
            let v4 = u32::MAX.checked_shr(32 - spread).unwrap_or(0) & bits | 0x0a00_0000;
            let asn = 1 + (random.next() % systems) as u32;
            let length = random.next() as u8;
            let net = match random.next() % 3 {
                0 => {
                    let v6 = u128::from(v4) << 64 | 0x2001 << 112;
                    IpNet::new(Ipv6Addr::from_bits(v6).into(), length % 65)
                }
                _ => IpNet::new(Ipv4Addr::from_bits(v4).into(), length % 33),
            };
            let net = net.unwrap().trunc();
            if prefixes.iter().all(|(known, _)| *known != net) {
                prefixes.push((net, asn));
            }
        }
        let table: String = prefixes.iter().map(|(net, asn)| format!("{net} {asn} - x\n")).collect();
        let compiled = compile(
            &document(&json!({ "networks": [
            { "name": "as", "format": "iptoasn", "source": "as", "guard": "off" }] })),
            table,
        );
        let stored = Compiled::load("stored", compiled.store().unwrap());
        let rulesets = [compiled.ruleset.unwrap(), stored.ruleset.unwrap()];
        let ends = prefixes.iter().flat_map(|(net, _)| [net.network(), net.broadcast()]);
        let near = ends.flat_map(|end| {
            [-1, 0, 1].map(|step| match end {
                IpAddr::V4(v4) => IpAddr::from(Ipv4Addr::from_bits(v4.to_bits().wrapping_add_signed(step))),
                IpAddr::V6(v6) => {
                    IpAddr::from(Ipv6Addr::from_bits(v6.to_bits().wrapping_add_signed(step.into())))
                }
            })
        });
        for address in near {
            if matches!(address, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some()) {
                continue;
            }
            let covering = prefixes.iter().filter(|(net, _)| net.contains(&address));
            let expected = covering.max_by_key(|(net, _)| net.prefix_len()).map(|(_, asn)| *asn);
            for ruleset in &rulesets {
                let found = ruleset.system_of(address).map(|system| system.asn);
                assert_eq!(found, expected, "round {round}, {address}");
            }
        }
    }
}
