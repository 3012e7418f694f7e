//! `crawlpike import`: agents from their Signature Agent Cards.

use serde_json::{Value, json};

use crate::fixture::Folder;

const CARD: &str = r#"{
  "client_id": "https://example.com/bot",
  "client_name": "Example Bot",
  "jwks_uri": "https://example.com/.well-known/http-message-signatures-directory",
  "web_bot_auth": {
    "rfc9309-product-token": "ExampleBot",
    "trigger": "fetcher",
    "purpose": "search",
    "ips_uri": "https://example.com/ips.json"
  }
}"#;

#[test]
fn a_card_becomes_the_entries_of_a_configuration() {
    let folder = Folder::new();
    folder.write("card.json", CARD);
    let done = folder.run(&["import", "--url", "https://example.com/bot", "card.json"]);
    done.ends(0).says_only("");
    let expected = json!({
        "feeds": [{ "name": "card-examplebot", "format": "jafar", "source": "feeds/card-examplebot.json",
                    "url": "https://example.com/ips.json", "max_age": "7d" }],
        "agents": [{ "token": "ExampleBot", "feeds": ["card-examplebot"], "ranges": "partial", "purposes": ["search"],
                     "keys": [{ "directory": "https://example.com/.well-known/http-message-signatures-directory",
                                "source": "keys/card-examplebot.json" }] }]
    });
    assert_eq!(serde_json::from_str::<Value>(&done.stdout).unwrap(), expected);
    // It is a configuration: what is missing are the files, which `crawlpike update` fetches.
    folder.write("crawlpike.json", &done.stdout);
    let agents = folder.run(&["agents", "--config", "crawlpike.json", "--json"]);
    agents.ends(0).prints(r#""token":"ExampleBot""#);
    assert!(!agents.stderr.contains("error"), "{}", agents.stderr);
}

#[test]
fn hostile_cards_are_refused_with_their_places() {
    let folder = Folder::new();
    for (card, message) in [
        ("", "card.json:1:1: error: not JSON"),
        ("{\n \"client_id\": \"https://example.com/bot\"", "card.json:2:39: error: not JSON"),
        (
            &CARD.replace("https://example.com/ips", "http://169.254.169.254/ips"),
            "card.json:9:16: error: `ips_uri` is",
        ),
        (
            &CARD.replace("\"client_name\"", "\"jwks\": {}, \"client_name\""),
            "card.json:3:11: error: `jwks` and `jwks_uri`",
        ),
        (
            &CARD.replace("ExampleBot", "Example\\u001b[2JBot"),
            "card.json:6:30: error: \"Example\\u{1b}[2JBot\" is not a valid agent token",
        ),
        (&"[".repeat(100_000), "card.json: error: the card has 100000 bytes; the limit is 65536"),
    ] {
        folder.write("card.json", card);
        folder.run(&["import", "card.json"]).says(message).ends(2).prints_only("");
    }
    folder.write("card.json", CARD);
    let done = folder.run(&["import", "--url", "https://example.com/bot2", "card.json"]);
    let expected = "card.json: `client_id` is https://example.com/bot, so this is not the card of https://example.com/bot2";
    done.ends(2).says(expected);
    assert_eq!(folder.run(&["import", "missing.json"]).status, 2);
}

#[test]
fn an_import_warns_of_what_has_to_be_checked() {
    let folder = Folder::new();
    folder.write(
        "card.json",
        CARD.replace("ExampleBot", "googlebot").replace("example.com/.well", "keys.example/.well"),
    );
    folder
        .run(&["import", "card.json"])
        .ends(0)
        .says("card.json: warning: the catalog has Googlebot already; make sure")
        .says("the card is at example.com, and the keys are at keys.example");
    // A name is a token if it can be one; nothing is made up for one that cannot.
    folder.write("card.json", r#"{"client_name":"Größter Bot","jwks_uri":"https://a.test/k"}"#);
    folder.run(&["import", "card.json"]).ends(2).says("state the token with --token");
    folder.run(&["import", "--token", "My Bot/2", "card.json"]).ends(0).prints("\"keys/card-my-bot-2.json\"");
    folder.run(&["import", "--token", "My \"Bot", "card.json"]).ends(2).says("--token");
}

#[test]
fn a_card_verifies_no_agent_of_the_catalog() {
    let folder = Folder::new();
    folder.write("card.json", CARD.replace("ExampleBot", "Google-Googlebot"));
    let done = folder.run(&["import", "card.json"]);
    done.ends(0).says("card.json: warning: the catalog has a feed with the name of this token, https://developers.google.com/");
    folder.write("crawlpike.json", &done.stdout);
    std::fs::create_dir(folder.path("feeds")).unwrap();
    folder.write("feeds/card-google-googlebot.json", r#"["203.0.113.0/24"]"#);
    let explain = ["explain", "--config", "crawlpike.json", "--ip", "203.0.113.5", "--user-agent"];
    let identity = |agent| folder.run(&[&explain[..], &[agent]].concat());
    identity("Googlebot/2.1").ends(0).prints("identity  unverified");
    identity("Google-Googlebot/1").ends(0).prints("identity  verified");
}
