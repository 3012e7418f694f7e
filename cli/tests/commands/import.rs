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
    assert_eq!((done.status, &*done.stderr), (0, ""));
    let expected = json!({
        "feeds": [{ "name": "examplebot", "format": "jafar", "source": "feeds/examplebot.json",
                    "url": "https://example.com/ips.json", "max_age": "7d" }],
        "agents": [{ "token": "ExampleBot", "feeds": ["examplebot"], "ranges": "partial", "purposes": ["search"],
                     "keys": [{ "directory": "https://example.com/.well-known/http-message-signatures-directory",
                                "source": "keys/examplebot.json" }] }]
    });
    assert_eq!(serde_json::from_str::<Value>(&done.stdout).unwrap(), expected);
    // It is a configuration: what is missing are the files, which `crawlpike update` fetches.
    folder.write("crawlpike.json", &done.stdout);
    let agents = folder.run(&["agents", "--config", "crawlpike.json", "--json"]);
    assert!(agents.status == 0 && agents.stdout.contains(r#""token":"ExampleBot""#), "{agents:?}");
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
            "card.json:6:30: error: \"Example\\u{1b}[2JBot\" is no agent token",
        ),
        (&"[".repeat(100_000), "card.json: error: the card has 100000 bytes; 65536 are allowed"),
    ] {
        folder.write("card.json", card);
        let done = folder.run(&["import", "card.json"]);
        assert!(done.stderr.contains(message), "{message}: {done:?}");
        assert_eq!((done.status, &*done.stdout), (2, ""), "{message}");
    }
    folder.write("card.json", CARD);
    let done = folder.run(&["import", "--url", "https://example.com/bot2", "card.json"]);
    let told = "card.json: `client_id` is https://example.com/bot, so this is not the card of https://example.com/bot2";
    assert!(done.status == 2 && done.stderr.contains(told), "{done:?}");
    assert_eq!(folder.run(&["import", "missing.json"]).status, 2);
}

#[test]
fn whoever_imports_a_card_is_told_what_to_make_sure_of() {
    let folder = Folder::new();
    folder.write(
        "card.json",
        CARD.replace("ExampleBot", "googlebot").replace("example.com/.well", "keys.example/.well"),
    );
    let done = folder.run(&["import", "card.json"]);
    assert_eq!(done.status, 0, "{done:?}");
    assert!(
        done.stderr.contains("card.json: warning: the catalog has Googlebot already; make sure"),
        "{done:?}"
    );
    assert!(done.stderr.contains("the card is at example.com, and the keys are at keys.example"), "{done:?}");
    // A name is a token if it can be one; nothing is made up for one that cannot.
    folder.write("card.json", r#"{"client_name":"Größter Bot","jwks_uri":"https://a.test/k"}"#);
    let done = folder.run(&["import", "card.json"]);
    assert!(done.status == 2 && done.stderr.contains("state the token with --token"), "{done:?}");
    let done = folder.run(&["import", "--token", "My Bot/2", "card.json"]);
    assert!(done.status == 0 && done.stdout.contains("\"keys/my-bot-2.json\""), "{done:?}");
    let done = folder.run(&["import", "--token", "My \"Bot", "card.json"]);
    assert!(done.status == 2 && done.stderr.contains("--token"), "{done:?}");
}
