//! Random worlds, larger than those of the families: files of many lines, several agents, feeds and sites.

use std::collections::BTreeMap;
use std::env;
use std::time::{Duration, Instant};

use crawlpike_core::Spelling;
use crawlpike_core::internals::{LONGEST, resolve};
use crawlpike_model::Versions;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::harness::{Client, NOW, World, file, file_of, version};

/// Few letters, so that patterns and paths meet, and all that is special about them.
fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "/[ab/?*$%2AE9\u{e9}4;.:\\\\]{0,14}",
        2 => "/(a|b|/|[?*:@/;]|%3A|%2f|%40|%3F|%26|%23|%3b|%5C|\\.\\.|%2e|\\.|\\\\){0,8}",
        1 => "/(a|b|/){0,12}(\\?(a|b|:|/|%2F|&){0,4})?",
    ]
}

fn pattern() -> impl Strategy<Value = String> {
    (path(), select(&["", "", "$", "*"][..])).prop_map(|(path, end)| path + end)
}

fn token() -> impl Strategy<Value = &'static str> {
    select(&["ABot", "bbot", "*", "CBot/2 x", "__usage_x", "dbot"][..])
}

fn preferences() -> impl Strategy<Value = String> {
    let label = select(&["train-ai", "ai-use", "search", "Search", "foo", "*"][..]);
    let value = select(
        &["=y", "=n", "", "=?1", "=N", "=\"n\"", "=(n y)", "=n;p", "=y;p=\"\\\"\"", "=@12", "=1.5", "="][..],
    );
    let said = (label, value).prop_map(|(label, value)| format!("{label}{value}"));
    (vec(said, 0..4), select(&[", ", ",", "\t,\t", " "][..])).prop_map(|(said, between)| said.join(between))
}

fn signals() -> impl Strategy<Value = String> {
    let said = select(
        &[
            "ai-train=no",
            "ai-train=yes",
            "search=yes",
            " search = no",
            "ai-input=no",
            "use=full",
            "AI-train=no",
        ][..],
    );
    vec(said, 0..4).prop_map(|said| said.join(","))
}

fn robots() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        3 => token().prop_map(|token| format!("User-agent: {token}")),
        5 => pattern().prop_map(|pattern| format!("Disallow: {pattern}")),
        4 => pattern().prop_map(|pattern| format!("allow:{pattern}")),
        1 => select(&["", "# x", "Sitemap: /", "Disallow:", "Disalow: /", "ALLOW /a", "crawl-delay: 1"][..]).prop_map(str::to_owned),
        2 => (pattern(), preferences()).prop_map(|(pattern, said)| format!("Content-Usage: {pattern} {said}")),
        1 => preferences().prop_map(|said| format!("content-usage :\t{said}")),
        1 => signals().prop_map(|said| format!("Content-Signal: {said}")),
    ];
    let end = select(&["\n", "\n", "\r\n", "\r", " # x\n"][..]);
    vec((line, end), 0..40).prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

fn automation_preferences() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => vec(pattern(), 1..4).prop_map(|scopes| format!("scope: {}", scopes.join(", "))),
        2 => select(&["one.test", "*.one.test", "*", "other.test", "a b, one.test"][..]).prop_map(|host| format!("host: {host}")),
        2 => token().prop_map(|token| format!("user-agent: {token}")),
        3 => select(&["GET", "GET, POST", "post", "OTHER", ""][..]).prop_map(|methods| format!("Allowed-Methods: {methods}")),
        2 => select(&["search", "Training,search", "", "*"][..]).prop_map(|purposes| format!("allowed-purposes: {purposes}")),
        4 => Just(String::new()),
        1 => select(&["# x", "<!-- x -->", "x-unknown: y"][..]).prop_map(str::to_owned),
    ];
    vec(line, 0..60).prop_map(|lines| lines.join("\n"))
}

/// Prefixes near each other, of which some lie within others.
fn prefix() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..4_u32, 20..=32_u32).prop_map(|(third, length)| {
            let address = (0x0b01_0000 | third << 8 | third << 5)
                & !(1_u32.checked_shl(32 - length).unwrap_or(0).wrapping_sub(1));
            format!("{}/{length}", std::net::Ipv4Addr::from(address))
        }),
        (0..4_u128, 28..=64_u32).prop_map(|(third, length)| {
            let address = (0x2600 << 112 | third << 96 | third << 66) & !((1_u128 << (128 - length)) - 1);
            format!("{}/{length}", std::net::Ipv6Addr::from(address))
        }),
    ]
}

fn feed() -> impl Strategy<Value = Versions> {
    let list = || vec(prefix(), 0..30).prop_map(|prefixes| prefixes.join("\n"));
    (list(), proptest::option::of(list()), 0..3_i64).prop_map(|(newest, last, days)| Versions {
        newest: Some(version(newest, NOW - days * 24 * 60 * 60)),
        last_good: last.map(|text| version(text, NOW - 60)),
        ..Versions::default()
    })
}

fn geofeed() -> impl Strategy<Value = String> {
    let place =
        select(&["US,US-CA,,", "PL,,Lodz,", ",,,", "ZZ,,,", "USA,,,", "DE,DE-BE,\"Ber\"\"lin\"", "US"][..]);
    vec((prefix(), place), 0..30)
        .prop_map(|lines| lines.into_iter().map(|(prefix, place)| format!("{prefix},{place}\n")).collect())
}

fn agents() -> impl Strategy<Value = Vec<Value>> {
    let lists = (
        select(vec![vec!["a"], vec!["b"], vec!["a", "b"], vec![]]),
        select(vec![vec!["search"], vec!["Training", "search"], vec![]]),
    );
    let agent =
        (lists, select(&["policy", "policy", "allow", "deny"][..]), select(&["complete", "partial"][..]));
    vec(agent, 4).prop_map(|agents| {
        let tokens = ["ABot", "BBot", "CBot", "__usage_x"];
        let agent = |(token, ((feeds, purposes), action, ranges))| {
            json!({ "token": token, "feeds": feeds, "purposes": purposes, "action": action, "ranges": ranges })
        };
        tokens.into_iter().zip(agents).map(agent).collect()
    })
}

fn site(hosts: Value) -> impl Strategy<Value = Value> {
    let treatment = || select(&["policy", "deny", "allow"][..]);
    let modes = vec((pattern(), select(&["off", "observe", "enforce"][..])), 0..4);
    let tags = vec((pattern(), select(&["noindex", "nosnippet; ABot=noindex", "Bot=, noarchive"][..])), 0..4);
    let usage = (
        vec((pattern(), select(&["train-ai=n", "search=y, ai-use=n", "train-ai=y"][..])), 0..4),
        any::<bool>(),
    );
    let geo = select(&[("PL", "deny"), ("US", "allow"), ("US", "policy")][..]);
    ((treatment(), treatment(), treatment(), any::<bool>()), modes, tags, usage, vec(geo, 0..3)).prop_map(
        move |((spoofed, unverified, undeclared, allows), modes, tags, (usage, enforce), geo)| {
            let scoped = |list: &[(String, &str)], key: &str| -> Vec<Value> {
                list.iter().map(|(scope, value)| json!({ "scope": scope, key: value })).collect()
            };
            let geo: Vec<Value> = geo.iter().map(|(country, action)| json!({ "country": [country], "action": action })).collect();
            json!({
                "hosts": hosts, "robots_txt": "robots.txt", "automation_preferences": "preferences.txt", "spoofed": spoofed,
                "unverified": unverified, "undeclared": undeclared, "undeclared_purpose": if allows { "allow" } else { "deny" },
                "modes": scoped(&modes, "mode"), "robots_tag": scoped(&tags, "rules"), "geo": geo,
                "usage": { "rules": scoped(&usage, "preferences"), "enforce": enforce }
            })
        },
    )
}

fn world() -> impl Strategy<Value = World> {
    let sites = (site(json!(["one.test"])), site(json!(["*.one.test", "two.test"])));
    let files = (robots(), automation_preferences(), feed(), feed(), geofeed());
    (agents(), sites, files).prop_map(|(agents, (one, two), (robots, preferences, a, b, places))| {
        let feed = |name: &str, format: &str| json!({ "name": name, "format": format, "source": name, "max_age": "1d" });
        let document = json!({
            "mode": "enforce", "catalog": "none", "agents": agents, "sites": [one, two],
            "feeds": [feed("a", "cidr"), feed("b", "cidr"), feed("places", "geofeed")]
        });
        let files = [("robots.txt", file(robots)), ("preferences.txt", file(preferences)), ("a", a), ("b", b), ("places", file_of(places, NOW))];
        World { document, files: files.map(|(name, versions)| (name.to_owned(), versions)).into_iter().collect::<BTreeMap<_, _>>() }
    })
}

fn client() -> impl Strategy<Value = Client> {
    let agents = [
        None,
        Some("curl/8.5.0"),
        Some("ABot/1.0"),
        Some("BBot"),
        Some("CBot; Training; search"),
        Some("__usage_x"),
        Some("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"),
    ];
    let addresses = [
        "11.1.0.1",
        "11.1.1.33",
        "11.1.2.70",
        "11.1.3.99",
        "2600::1",
        "2600:1:0:4::1",
        "192.0.2.1",
        "10.0.0.1",
    ];
    let purposes: [&[&str]; 4] = [&[], &["search"], &["training", "SEARCH"], &["a b"]];
    let who = (select(agents.to_vec()), select(addresses.to_vec()), select(purposes.to_vec()), -1..2_i64);
    let target = (
        select(&["one.test", "x.one.test:80", "two.test", "no.test", "a@b"][..]),
        select(&["GET", "POST"][..]),
        path(),
    );
    (who, target).prop_map(|((user_agent, address, purposes, later), (host, method, path))| Client {
        address: address.parse().ok(),
        host,
        method,
        path,
        user_agent,
        purposes,
        now: NOW + later,
        ..Client::default()
    })
}

/// Compares some worlds, or as many as the time lets that `CRAWLPIKE_MODEL_SECONDS` gives. Each difference is shown in the
/// smallest world that proptest finds.
pub(crate) fn compare() {
    let seconds = env::var("CRAWLPIKE_MODEL_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let end = Instant::now() + Duration::from_secs(seconds);
    let default = Config::default();
    // Each has many requests.
    let cases = if seconds > 0 { default.cases } else { default.cases / 5 };
    let config = Config { failure_persistence: None, cases, ..default };
    let seed: u64 = env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut rounds = 0;
    while rounds == 0 || Instant::now() < end {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&(seed + rounds).to_le_bytes());
        let random = TestRng::from_seed(config.rng_algorithm, &bytes);
        let mut runner = TestRunner::new_with_rng(config.clone(), random);
        let outcome = runner.run(&(world(), vec(client(), 1..40)), |(world, clients)| {
            let loaded = world.load();
            for client in &clients {
                if let Some((core, model)) = loaded.difference(client) {
                    return Err(TestCaseError::fail(format!(
                        "{client:?}\n  core:  {core}\n  model: {model}"
                    )));
                }
            }
            Ok(())
        });
        assert!(outcome.is_ok(), "PROPTEST_RNG_SEED={}: {}", seed + rounds, outcome.unwrap_err());
        rounds += 1;
    }
    println!("random: {} worlds, each with up to 40 requests", rounds * u64::from(config.cases));
}

/// The forms in which servers resolve a path.
const FORMS: [Spelling; 4] =
    [Spelling::SlashesFirst, Spelling::DotsFirst, Spelling::Decoded, Spelling::WithoutParameters];

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn resolved_paths_are_those_of_the_model(target in prop_oneof![path(), "/[/.;%2eEfF35cC\\\\a?#]{0,24}"]) {
        // ROB-7
        let mut room = [0; LONGEST];
        for (form, expected) in FORMS.into_iter().zip(crawlpike_model::FORMS) {
            let resolved = resolve(target.as_bytes(), form, &mut room);
            prop_assert_eq!(resolved, crawlpike_model::resolve(target.as_bytes(), expected), "{:?} {}", form, target);
        }
    }
}
