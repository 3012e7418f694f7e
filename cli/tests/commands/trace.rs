//! The output of `crawlpike explain` for people.

use std::fs::File;
use std::time::{Duration, SystemTime};

use crate::explain::{decision, explain};
use crate::fixture::{CONFIG, Folder, GOOGLEBOT};

#[test]
fn an_explanation_has_each_step() {
    explain(
        &Folder::new(),
        &["--ip", "192.0.2.1", "--host", "a.example.com", "--user-agent", "Googlebot"],
    ).ends(0).prints_only("\
deny with 403: spoofed-agent, identity spoofed, agent Googlebot

request   GET /
site      example.com
mode      enforce
address   192.0.2.1
          in no feed
claim     Googlebot, which the feed googlebot can verify
identity  spoofed: all ranges of Googlebot are known, and the address is in none of them
setting   `spoofed` is `deny` by default
action    deny, spoofed-agent: The User-Agent claims an agent whose operator does not publish this address as the agent's.
");
}

#[test]
fn a_default_is_called_a_default_and_a_setting_has_its_line() {
    let folder = Folder::new();
    let setting = |host: &str| {
        let done = explain(&folder, &["--ip", "192.0.2.1", "--host", host, "--user-agent", "Googlebot"]);
        done.stdout.lines().find(|line| line.starts_with("setting ")).unwrap().to_string()
    };
    for host in ["example.com", "elsewhere.test"] {
        assert_eq!(setting(host), "setting   `spoofed` is `deny` by default", "{host}");
    }
    let config = folder.read("crawlpike.json");
    folder.write(
        "crawlpike.json",
        config.replace("\"*.example.com\"]", "\"*.example.com\"],\n    \"spoofed\": \"deny\""),
    );
    assert_eq!(setting("example.com"), "setting   `spoofed` is `deny`, set in line 12 of the document");
    assert_eq!(setting("elsewhere.test"), "setting   `spoofed` is `deny` by default");
}

#[test]
fn an_explanation_names_no_stale_feed_as_a_proof() {
    let folder = Folder::new();
    let config = folder.read("crawlpike.json");
    folder.write(
        "crawlpike.json",
        config.replace(r#""googlebot.json" }"#, r#""googlebot.json", "max_age": "1d" }"#),
    );
    let two_days = Duration::from_secs(2 * 24 * 60 * 60);
    let file = File::options().write(true).open(folder.path("googlebot.json")).unwrap();
    file.set_modified(SystemTime::now() - two_days).unwrap();
    let done = explain(&folder, &["--ip", GOOGLEBOT, "--host", "example.com", "--user-agent", "Googlebot"]);
    let lines: Vec<&str> = done.stdout.lines().filter(|line| line.contains("Googlebot")).collect();
    assert_eq!(
        lines,
        [
            "allow: allowed, identity unverified, agent Googlebot",
            "claim     Googlebot, which no feed can verify at the moment",
            "name      not looked up; one in googlebot.com can verify Googlebot: use --resolve",
            "identity  unverified: no feed has the address for Googlebot; the feed `googlebot` is stale: it is 2d \
             old, over its `max_age` of 1d",
        ]
    );
    done.says("the feed `googlebot` is stale: ");
}

#[test]
fn an_explanation_shows_the_rules_of_the_policies() {
    let folder = Folder::new();
    folder.write(
        "crawlpike.json",
        r#"{ "mode": "enforce",
  "feeds": [
    { "name": "googlebot", "format": "jafar", "source": "googlebot.json" },
    { "name": "places", "format": "geofeed", "source": "places.csv" }
  ],
  "agents": [ { "token": "Googlebot", "feeds": ["googlebot"] } ],
  "sites": [ { "name": "shop", "robots_txt": "robots.txt", "automation_preferences": "prefs.txt",
    "modes": [ { "scope": "/shop/", "mode": "observe" } ], "enforce_percent": 100,
    "geo": [ { "country": ["US"], "action": "policy" } ] } ] }"#,
    );
    folder.write("places.csv", "66.249.66.0/24,US,US-CA,,\n");
    folder.write(
        "robots.txt",
        "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /shop/  # all\nDisallow: /shop/cart\n",
    );
    folder.write("prefs.txt", "scope: /shop/\nallowed-methods: GET\n\n");
    let ask = |arguments: &[&str]| {
        let done = explain(&folder, &[&["--ip", GOOGLEBOT, "--user-agent", "Googlebot"], arguments].concat());
        done.ends(0);
        done.stdout
    };
    assert_eq!(
        ask(&["--path", "/shop/a", "--method", "POST"]),
        "\
deny with 403: method-not-allowed, identity verified, agent Googlebot; not enforced: the request passes

request   POST /shop/a
site      shop
mode      observe, set by the site for /shop/
address   66.249.66.1
          in googlebot 66.249.66.0/27 (a feed of Googlebot)
          in places 66.249.66.0/24 country=\"US\" region=\"US-CA\"
claim     Googlebot, which the feed googlebot can verify
identity  verified: the feed googlebot has the address for Googlebot
agent     its action is `policy`: the site's policy decides
place     US-CA: a `geo` rule of the site says `policy`
policy    robots.txt, the group of googlebot: line 5 allows it: `Allow: /shop/`
policy    prefs.txt, the group in line 1: line 2 denies it: `allowed-methods: GET`
          prefs.txt is stricter than robots.txt, and the stricter file counts
action    deny, method-not-allowed: This site's /automation-preferences.txt does not allow the method here. (prefs.txt:2)
"
    );
    let forbidden = ask(&["--path", "/shop/cart?x"]);
    assert!(
        forbidden.contains(
            "policy    robots.txt, the group of googlebot: line 6 denies it: `Disallow: /shop/cart`\naction "
        ),
        "{forbidden}"
    );
    let unrestricted = ask(&["--path", "/other"]);
    assert!(
        unrestricted.contains("policy    robots.txt, the group of googlebot: no rule matches the path, so it is allowed\npolicy    prefs.txt: no group applies to the request\n"),
        "{unrestricted}"
    );
    let spelled = ask(&["--path", "/shop//%2e/cart"]);
    assert!(
        spelled.contains(
            "line 5 allows it: `Allow: /shop/`
policy    prefs.txt, the group in line 1: line 1 allows it: `scope: /shop/`
path      a server may resolve it to /shop/cart, so that path must be allowed, too
policy    robots.txt, the group of googlebot: line 6 denies it: `Disallow: /shop/cart`
action    deny"
        ),
        "{spelled}"
    );
    let elsewhere = ask(&["--path", "/shop/../shop-2"]);
    assert!(
        elsewhere.contains(
            "\nmode      enforce; a server may resolve the path to /shop-2, and the stricter mode counts\n"
        ),
        "{elsewhere}"
    );
    let undeclared = explain(&folder, &["--ip", GOOGLEBOT, "--user-agent", "curl/8"]).stdout;
    assert!(undeclared.contains("so the policy decides, not `undeclared`\n"), "{undeclared}");
}

#[test]
fn a_purpose_has_its_source() {
    let folder = Folder::new();
    folder.write(
        "crawlpike.json",
        r#"{ "catalog": "none", "agents": [ { "token": "KnownBot", "purposes": ["training", "search"] } ],
             "sites": [ { "automation_preferences": "prefs.txt" } ] }"#,
    );
    folder.write("prefs.txt", "scope: /\nallowed-methods: GET\nallowed-purposes: archiving\n\n");
    let purpose = |user_agent: &str, header: &[&str]| {
        let done = explain(&folder, &[&["--ip", "192.0.2.1", "--user-agent", user_agent], header].concat());
        done.stdout.lines().find(|line| line.starts_with("purpose ")).map(str::to_string)
    };
    for (user_agent, header, expected) in [
        ("KnownBot", &["--purpose", "search"][..], "search, declared in `automation-purpose`"),
        ("OtherBot/1.0; archiving; +https://other.test", &[], "archiving, declared in the User-Agent"),
        ("KnownBot", &[], "none is declared; KnownBot is known for training, search"),
        ("curl/8", &[], "none is declared, and none is known"),
        (
            "curl/8",
            &["--purpose", "two words"],
            "none: `automation-purpose` is not a single token, and none is known",
        ),
    ] {
        assert_eq!(purpose(user_agent, header), Some(format!("purpose   {expected}")), "{user_agent}");
    }
}

#[test]
fn a_feed_has_the_agents_that_it_can_verify() {
    let folder = Folder::new();
    folder.write("partners.txt", "192.0.2.0/24\n");
    let feeds = |address: &str| {
        let done = explain(&folder, &["--ip", address, "--user-agent", "curl/8"]);
        done.stdout.lines().find(|line| line.starts_with("          in ")).unwrap().trim().to_string()
    };
    assert_eq!(feeds(GOOGLEBOT), "in googlebot 66.249.66.0/27 (a feed of Googlebot)");
    assert_eq!(feeds("192.0.2.1"), "in partners 192.0.2.0/24 (a feed of PartnerProbe)");
    assert_eq!(feeds("198.51.100.1"), "in no feed");
    let agents = r#"    { "token": "PartnerProbe", "feeds": ["partners"] }"#;
    let document = folder.read("crawlpike.json");
    assert!(document.contains(agents));
    folder
        .write("crawlpike.json", document.replace(agents, r#"    { "token": "PartnerProbe", "feeds": [] }"#));
    assert_eq!(feeds("192.0.2.1"), "in partners 192.0.2.0/24 (a feed of no agent)");
}

#[test]
fn an_explanation_says_what_is_not_enforced_and_why() {
    let folder = Folder::new();
    folder.write("crawlpike.json", folder.read("crawlpike.json").replace("enforce", "observe"));
    let spoofed = ["--ip", "192.0.2.1", "--user-agent", "Googlebot"];
    let observed = explain(&folder, &spoofed).stdout;
    assert!(
        observed.starts_with("deny with 403: spoofed-agent, identity spoofed, agent Googlebot; not enforced"),
        "{observed}"
    );
    let readable = explain(&folder, &[&spoofed[..], &["--path", "/robots.txt?x"]].concat()).stdout;
    assert!(
        readable
            .contains("\n          spoofed-agent does not apply: this path is never denied\naction    allow"),
        "{readable}"
    );
    folder.write("crawlpike.json", folder.read("crawlpike.json").replace("observe", "off"));
    let off = explain(&folder, &spoofed).stdout;
    assert!(off.ends_with("The mode is `off`: requests pass unchecked.\n"), "{off}");
}

#[test]
fn tag_7_the_rules_for_a_response_are_summed_up_for_the_client() {
    let folder = Folder::new();
    let rules = r#""robots_tag": [ { "scope": "/drafts/", "rules": "noindex; GoogleBot=nosnippet" } ]"#;
    let site = format!(r#"{{ "hosts": ["example.com", "*.example.com"], {rules} }}"#);
    folder.write("crawlpike.json", CONFIG.replace(r#"{ "hosts": ["example.com", "*.example.com"] }"#, &site));
    let response = |path: &str, user_agent: &str| {
        let request =
            ["--ip", GOOGLEBOT, "--host", "example.com", "--path", path, "--user-agent", user_agent];
        let done = explain(&folder, &request);
        done.stdout.split_once("\nresponse  ").map(|(_, response)| response.to_string())
    };
    let value = "Robots-Tag: noindex; GoogleBot=nosnippet\n";
    assert_eq!(
        response("/drafts/", "Googlebot/2.1"),
        Some(format!("{value}          for Googlebot: nosnippet, noindex\n"))
    );
    assert_eq!(
        response("/drafts/", "OtherBot/1.0 (+https://example.org)"),
        Some(format!("{value}          for Googlebot: nosnippet, noindex\n"))
    );
    assert_eq!(response("/drafts/", "GPTBot/1.0"), Some(format!("{value}          for GPTBot: noindex\n")));
    assert_eq!(response("/", "Googlebot/2.1"), None);
    let decided = decision(&folder, &["--ip", "192.0.2.1", "--host", "example.com", "--path", "/drafts/a"]);
    assert_eq!(decided["robots_tag"], "noindex; GoogleBot=nosnippet");
}

#[test]
fn an_explanation_of_a_private_address_has_the_remedy() {
    let done =
        explain(&Folder::new(), &["--ip", "10.0.0.5", "--host", "example.com", "--user-agent", "Googlebot"]);
    done.ends(0)
        .prints("identity unverified")
        .prints("10.0.0.5 is a private address; if a proxy is in front, set the client's real address");
}
