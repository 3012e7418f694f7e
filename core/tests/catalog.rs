//! The built-in catalog: each entry keeps the rules, and the forms and files that go with it agree.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crawlpike_core::FeedFormat;
use crawlpike_core::internals::{
    Catalog, Claims, Diagnostics, Load, ReadOptions, Speaker, Tokens, read_feed,
};
use serde_json::Value;
use url::Url;

/// The purposes for which agents of the catalog fetch pages. `core/data/README.md` lists the words.
const PURPOSES: [&str; 10] = [
    "ai-search",
    "ai-training",
    "archive",
    "dataset",
    "monitoring",
    "preview",
    "search",
    "seo",
    "tool",
    "user-fetch",
];

/// Names that the largest public list of AI agents has, and of which only own.toml knows.
const NAMES_OF_AI_ROBOTS_TXT: &str = "AddSearchBot, AgentTimes, AI2Bot-DeepResearchEval, amazon-kendra, amazon-QBusiness, \
    AmazonBuyForMe, ApifyBot, ApifyWebsiteContentCrawler, Aranet-SearchBot, Awario, bigsur.ai, Brightbot 1.0, Brightbot, \
    BuddyBot, Channel3Bot, Claude-Code, CloudVertexBot, CragCrawler, Datenbank Crawler, Echobot Bot, FriendlyCrawler, \
    GeistHaus-PageFetcher, Google-Firebase, GoogleAgent-Mariner, GoogleAgent-URLContext, HenkBot, iAskBot, iaskspider, \
    iaskspider/2.0, imageSpider, Kangaroo Bot, KunatoCrawler, laion-huggingface-processor, LinerBot, \
    MistralAI-User/1.0, Mozilla-Tabstack, MyCentralAIScraperBot, NagetBot, netEstate Imprint Crawler, NotebookLM, OpenAI, \
    opencode, Operator, Panscient, Poggio-Citations, Querit-SearchBot, QueritBot, quillbot.com, Terra Cotta, TongyiBot, \
    TwinAgent, UseAI, WARDBot, WRTNBot, YiyanBot, ZanistaBot";

/// Domains in which customers of a cloud have names: a name in one of them proves nobody.
const SHARED: [&str; 15] = [
    "akamaitechnologies.com",
    "aliyuncs.com",
    "amazonaws.com",
    "azure.com",
    "cloudapp.net",
    "contaboserver.net",
    "digitalocean.com",
    "fastly.net",
    "googleusercontent.com",
    "linodeusercontent.com",
    "on.aws",
    "oraclecloud.com",
    "ovh.net",
    "vultrusercontent.com",
    "your-server.de",
];

const KEY_DIRECTORY: &str = "/.well-known/http-message-signatures-directory";

fn data() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data"))
}

fn json(path: &str) -> Value {
    let bytes = fs::read(data().join(path)).unwrap();
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn entries(document: &Value, key: &str) -> Vec<Value> {
    document[key].as_array().unwrap().clone()
}

fn text<'v>(entry: &'v Value, key: &str) -> &'v str {
    entry[key].as_str().unwrap_or_else(|| panic!("{entry} needs {key}"))
}

fn texts<'v>(entry: &'v Value, key: &str) -> Vec<&'v str> {
    entry[key].as_array().into_iter().flatten().map(|text| text.as_str().unwrap()).collect()
}

fn assert_sorted(names: &[String]) {
    assert!(names.is_sorted_by(|one, next| one < next), "sorted, and each once: {names:?}");
}

fn assert_https(url: &str) -> Url {
    let parsed = Url::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
    assert_eq!(parsed.scheme(), "https", "{url}");
    assert!(parsed.username().is_empty() && parsed.fragment().is_none(), "{url}");
    assert!(parsed.domain().is_some_and(|domain| domain.contains('.')), "{url}");
    parsed
}

/// Returns true if a domain is another one or below it.
fn is_within(domain: &str, other: &str) -> bool {
    domain.strip_suffix(other).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

#[test]
fn every_feed_keeps_the_rules() {
    let catalog = json("catalog.json");
    let feeds = entries(&catalog, "feeds");
    assert_sorted(&feeds.iter().map(|feed| text(feed, "name").into()).collect::<Vec<_>>());
    let mut urls = BTreeSet::new();
    for feed in &feeds {
        let name = text(feed, "name");
        assert!(name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')), "{name}");
        assert!(!text(feed, "operator").is_empty());
        let former = texts(feed, "former_urls");
        for url in [text(feed, "url")].into_iter().chain(former) {
            assert_https(url);
            assert!(urls.insert(url.to_owned()), "two feeds have the URL {url}");
        }
        assert!(matches!(feed["format"].as_str(), None | Some("cidr")), "{name}: jafar is the default");
        assert!(feed["format"].is_null() || feed["shape"].is_null(), "{name}: plain text has no shape");
    }
}

#[test]
fn every_agent_keeps_the_rules() {
    let catalog = json("catalog.json");
    let feeds = entries(&catalog, "feeds");
    let agents = entries(&catalog, "agents");
    assert_sorted(&agents.iter().map(|agent| text(agent, "token").to_ascii_lowercase()).collect::<Vec<_>>());
    for agent in &agents {
        let token = text(agent, "token");
        Claims::new([token]).unwrap_or_else(|error| panic!("{token}: {error}"));
        let purposes = texts(agent, "purposes");
        assert!(!purposes.is_empty(), "{token}");
        assert!(purposes.iter().all(|purpose| PURPOSES.contains(purpose)), "{token}: {purposes:?}");
        for name in texts(agent, "feeds") {
            let feed = feeds.iter().find(|feed| feed["name"] == name);
            assert!(feed.is_some(), "{token}: no feed {name}");
        }
        assert!(
            matches!(agent["ranges"].as_str(), None | Some("partial")),
            "{token}: complete is the default"
        );
        let proofs = ["feeds", "rdns", "keys"].map(|key| texts(agent, key));
        if proofs.iter().any(|proof| !proof.is_empty()) {
            assert!(agent["docs"].is_string(), "{token}: where is its proof documented?");
        }
        if let Some(docs) = agent["docs"].as_str() {
            assert_https(docs);
        }
    }
}

#[test]
fn names_and_keys_are_the_operators_own() {
    for agent in entries(&json("catalog.json"), "agents") {
        let token = text(&agent, "token");
        for suffix in texts(&agent, "rdns") {
            let labels: Vec<&str> = suffix.split('.').collect();
            assert!(labels.len() >= 2, "{token}: {suffix} is a top-level domain");
            let is_label = |label: &&str| {
                !label.is_empty()
                    && label.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
                    && !label.starts_with('-')
                    && !label.ends_with('-')
            };
            assert!(labels.iter().all(is_label), "{token}: {suffix} begins or ends within a label");
            assert!(!SHARED.iter().any(|shared| is_within(suffix, shared)), "{token}: {suffix}");
        }
        for directory in texts(&agent, "keys") {
            let url = assert_https(directory);
            assert_eq!((url.path(), url.query()), (KEY_DIRECTORY, None), "{token}");
        }
    }
}

#[test]
fn the_gates_embed_the_catalog_without_what_only_people_read() {
    let (_, embedded) = Catalog::builtin();
    let embedded: Value = serde_json::from_slice(embedded).unwrap();
    let mut whole = json("catalog.json");
    for key in ["feeds", "agents"] {
        for entry in whole[key].as_array_mut().unwrap() {
            entry.as_object_mut().unwrap().retain(|key, _| !matches!(key.as_str(), "operator" | "docs"));
        }
    }
    assert_eq!(embedded, whole);
}

#[test]
fn the_whole_catalog_is_read_without_a_word() {
    let bytes = fs::read(data().join("catalog.json")).unwrap();
    let mut diagnostics = Diagnostics::new("catalog.json", Load);
    let catalog = Catalog::parse(&bytes, &mut diagnostics).unwrap();
    assert_eq!(diagnostics.items(), []);
    let feed = |name| catalog.feeds.iter().find(|feed| feed.name == name).unwrap();
    assert_eq!(feed("pingdom-ipv6").format, FeedFormat::Cidr);
    assert_eq!(feed("amazon-user").shape.as_ref().map(ToString::to_string).as_deref(), Some("html"));
    assert!(feed("google-googlebot").former_urls.iter().any(|url| url.ends_with("/googlebot.json")));
    let agent = |token| catalog.agents.iter().find(|agent| agent.token == token).unwrap();
    assert_eq!(agent("Google-Agent").keys.len(), 1);
    assert_eq!(agent("BLEXBot").rdns, ["seranking.com"]);
    assert_eq!(agent("GPTBot").operator, "OpenAI");
}

/// The feeds that ship with the catalog, each with the date on which it was fetched.
#[test]
fn every_shipped_feed_is_in_the_index_with_its_date() {
    let catalog = json("catalog.json");
    let index = json("feeds.json");
    assert_eq!(index["licence"], "CC0-1.0");
    let mut files: BTreeSet<String> = fs::read_dir(data().join("feeds"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".json"))
        .collect();
    for row in entries(&index, "feeds") {
        let (name, file) = (text(&row, "name"), text(&row, "file"));
        assert!(files.remove(file), "{file}");
        assert!(entries(&catalog, "feeds").iter().any(|feed| feed["name"] == name), "{name}");
        let fetched = text(&row, "fetched");
        let form: String =
            fetched.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
        assert_eq!(form, "0000-00-00T00:00:00Z", "{fetched}");
        let bytes = fs::read(data().join("feeds").join(file)).unwrap();
        let mut diagnostics = Diagnostics::new(file, Load);
        let options = ReadOptions::default();
        let feed = read_feed(FeedFormat::Jafar, bytes[..].into(), &options, &mut diagnostics).unwrap();
        assert!(!feed.entries.is_empty(), "{file}");
    }
    assert_eq!(files, BTreeSet::new(), "files without a date");
}

/// A token must stand alone in the User-Agent that its operator publishes or sends.
#[test]
fn user_agents_in_use_claim_their_agents() {
    let catalog = json("catalog.json");
    let agents = entries(&catalog, "agents");
    let tokens: Vec<&str> = agents.iter().map(|agent| text(agent, "token")).collect();
    let compiled = Tokens::new(tokens.iter().copied());
    let claimed = |user_agent: &str| compiled.find(user_agent.as_bytes()).map(|index| tokens[index]);
    for (user_agent, token) in [
        ("Claude-User (claude-code/2.1.90; +https://support.anthropic.com/)", "Claude-User"),
        (
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; OAI-AdsBot/1.0; +https://openai.com/adsbot",
            "OAI-AdsBot",
        ),
        ("DuckAssistBot/1.2; (+http://duckduckgo.com/duckassistbot.html)", "DuckAssistBot"),
        ("AIWebIndex/2.0 (+https://lyrenth.com/bot; AI-readable web index)", "AIWebIndex"),
        ("AIWebIndex-Agent/2.0 (+https://lyrenth.com/bot; user-initiated fetch)", "AIWebIndex-Agent"),
        (
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Amzn-SearchBot/0.1) Chrome/119.0.6045.214 Safari/537.36",
            "Amzn-SearchBot",
        ),
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.7339.16 Safari/537.36 Agent-NovaAct/0.9",
            "Agent-NovaAct",
        ),
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Safari/537.36; Devin/1.0; +https://devin.ai",
            "Devin",
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Trae/1.107.1 Chrome/142.0.7444.235 Electron/39.2.7 Safari/537.36",
            "Trae",
        ),
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/49.0.2623.75 Safari/537.36 Google Favicon",
            "Google Favicon",
        ),
        (
            "Mozilla/5.0 (compatible; Google-Gemini-CLI/1.0; +https://github.com/google-gemini/gemini-cli)",
            "Google-Gemini-CLI",
        ),
        ("Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)", "Sogou web spider"),
        ("facebookexternalhit/1.1 Facebot Twitterbot/1.0", "facebookexternalhit"),
        ("TelegramBot (like TwitterBot)", "TelegramBot"),
        ("WhatsApp/2.23.20.0", "WhatsApp"),
        ("Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)", "Pingdom"),
        (
            "Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/534.34 (KHTML, like Gecko) PingdomTMS/0.8.5 Safari/534.34",
            "PingdomTMS",
        ),
        (
            "Better Uptime Bot Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/74.0.3729.169 Safari/537.36",
            "Better Uptime Bot",
        ),
        ("Datadog/Synthetics", "Datadog/Synthetics"),
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.7204.168 Safari/537.36 DatadogSynthetics",
            "DatadogSynthetics",
        ),
        ("StatusCake_Uptime_Checker/1.0", "StatusCake_Uptime_Checker"),
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/134.0.6998.35 Safari/537.36 (Checkly, https://www.checklyhq.com)",
            "Checkly",
        ),
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/100.0.4896.60 Safari/537.36 NewRelicSynthetics/1.0",
            "NewRelicSynthetics",
        ),
        ("HetrixTools Uptime Monitoring Bot. https://hetrix.tools/uptime-monitoring-bot.html", "HetrixTools"),
        ("Mozilla/5.0 (compatible; OhDear/1.1; +https://ohdear.app/checker)", "OhDear"),
        ("updown.io daemon 2.11", "updown.io"),
        ("Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", "UptimeRobot"),
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0.4664.45 Safari/537.36 PTST/211202.211915",
            "PTST",
        ),
        ("RuxitSynthetic/1.0", "RuxitSynthetic"),
    ] {
        assert_eq!(claimed(user_agent), Some(token), "{user_agent}");
    }
}

#[test]
fn each_name_of_the_public_list_claims_an_agent() {
    let catalog = Catalog::parse(Catalog::builtin().1, &mut Diagnostics::new("catalog", Load)).unwrap();
    let begins: Vec<bool> = catalog.agents.iter().map(|agent| agent.begins).collect();
    let tokens: Vec<&str> = catalog.agents.iter().map(|agent| agent.token.as_str()).collect();
    let claims = Claims::new(tokens.iter().copied()).unwrap().counting_at_beginning(begins.into_iter());
    let claimed = |user_agent: &str| match claims.speaker(Some(user_agent.as_bytes())) {
        Speaker::Agent(place) => tokens.get(place).copied(),
        _ => None,
    };
    for name in NAMES_OF_AI_ROBOTS_TXT.split(", ") {
        let token = claimed(name).unwrap_or_else(|| panic!("{name} claims nobody"));
        assert!(name.to_lowercase().starts_with(&token.to_lowercase()), "{name} claims {token}");
    }
    for (user_agent, expected) in [
        ("Mozilla/5.0 (compatible; Operator/1.0)", "Operator"),
        ("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "GPTBot"),
        ("Claude-User (claude-code/2.1.0; +https://support.anthropic.com/)", "Claude-User"),
        ("Mozilla/5.0 (compatible; QuillBot; +https://quillbot.com)", "QuillBot"),
    ] {
        assert_eq!(claimed(user_agent), Some(expected), "{user_agent}");
    }
}
