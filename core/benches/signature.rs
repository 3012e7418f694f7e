//! The cost of signatures: `cargo bench -p crawlpike-core --bench signature`.
//!
//! One ruleset whose agents have keys. Each kind of request is decided by itself: without a signature, with each signature
//! that is refused before anything is computed on the curve, and with those for which something is. Shown are medians, of
//! several the least.
//!
//! With `-- KIND ROUNDS` only that kind is decided, that often, for a profiler: `-- unsigned 1000`.

use std::env;
use std::hint::black_box;
use std::net::IpAddr;
use std::time::Instant;

use crawlpike_core::sign::{Statement, key_directory, key_id, sign_request};
use crawlpike_core::{
    HeaderNames, NoFiles, Overrides, Request, Ruleset, Scheme, SignatureBudget, SignatureResult, decide,
};
use ed25519_dalek::{Signer, SigningKey};
use serde_json::json;

const NOW: i64 = 1_800_000_000;

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// The other headers that a browser sends.
const HEADERS: [(&str, &str); 9] = [
    ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("accept-language", "en-US,en;q=0.5"),
    ("accept-encoding", "gzip, deflate, br, zstd"),
    ("connection", "keep-alive"),
    ("cookie", "session=0123456789abcdef"),
    ("upgrade-insecure-requests", "1"),
    ("sec-fetch-dest", "document"),
    ("sec-fetch-mode", "navigate"),
    ("sec-fetch-site", "none"),
];

struct Client {
    headers: Vec<(String, String)>,
    /// A budget of which nothing is left after a few rounds: the time stands still.
    budget: Option<SignatureBudget>,
}

impl Request for Client {
    fn address(&self) -> Option<IpAddr> {
        Some(IpAddr::from([203, 0, 113, 9]))
    }

    fn scheme(&self) -> Option<Scheme> {
        Some(Scheme::Https)
    }

    fn authority(&self) -> Option<&[u8]> {
        Some(b"www.example.com")
    }

    fn method(&self) -> &[u8] {
        b"GET"
    }

    fn path(&self) -> &[u8] {
        b"/some/path/of/a/page?with=a&query"
    }

    fn user_agent(&self) -> Option<&[u8]> {
        Some(FIREFOX.as_bytes())
    }

    fn now(&self) -> i64 {
        NOW
    }

    fn with_signature_budget<T>(&self, call: impl FnOnce(&SignatureBudget) -> T) -> Option<T> {
        self.budget.as_ref().map(call)
    }

    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        self.headers.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_bytes())
    }
}

fn unsigned() -> Client {
    let headers = HEADERS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Client { headers: headers.into(), budget: None }
}

/// A request that the first key is said to have signed, in fact this one, so many seconds ago.
fn signed(seed: u8, directory: &str, age: i64) -> Client {
    let public = SigningKey::from_bytes(&[1; 32]).verifying_key().to_bytes();
    let key = SigningKey::from_bytes(&[seed; 32]);
    let nonce = "e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==";
    let created = NOW - age;
    let statement =
        Statement { label: "sig1", key: &public, created, expires: created + 60, nonce: Some(nonce) };
    let mut client = unsigned();
    let components = ["@authority", "@method", "@path", "@query"];
    let headers = sign_request(&client, directory, &components, &statement, |base| key.sign(base).to_bytes());
    let headers = headers.expect("the request can be signed").into_iter();
    client.headers.extend(headers.map(|(name, value)| (name.to_ascii_lowercase(), value)));
    client
}

/// One of many forged requests in a second.
fn over_budget() -> Client {
    let client = Client { budget: Some(SignatureBudget::new()), ..signed(2, "https://signer.test", 0) };
    run(&ruleset(true), &client, 100);
    client
}

/// Decides about a request again and again, as a gate does that has looked at the names of its headers.
fn run(ruleset: &Ruleset, client: &Client, rounds: usize) {
    for _ in 0..rounds {
        let mut names = HeaderNames::default();
        black_box(client).headers.iter().for_each(|(name, _)| names.see(name.as_bytes()));
        let overrides = Overrides { is_unsigned: !names.are_signed, ..Overrides::default() };
        black_box(decide(ruleset, black_box(client), overrides));
    }
}

/// As much as is read, and as slow to read as it gets: signatures over signatures, by a known key.
fn long() -> Client {
    let mut client = unsigned();
    let known = key_id(&SigningKey::from_bytes(&[1; 32]).verifying_key().to_bytes());
    let parameters = format!(";created={NOW};expires={NOW};keyid=\"{known}\";tag=\"web-bot-auth\"");
    let headers: String = (0..9).map(|number| format!(" \"x{number}\"")).collect();
    let input = |label: usize| {
        let inner = (2..5)
            .map(|inner| format!(" \"signature\";key=\"s{inner}\" \"signature-input\";key=\"s{inner}\""));
        let inner: String = if label < 2 { inner.collect() } else { String::new() };
        format!("s{label}=(\"@authority\"{headers}{inner}){parameters}")
    };
    let inputs = (0..8).map(input).collect::<Vec<_>>().join(", ");
    let signatures = (0..8).map(|label| format!("s{label}=:AAAA:")).collect::<Vec<_>>().join(", ");
    let values = "1 ".repeat(60);
    let mut agents = String::from("z");
    while agents.len() + inputs.len() + signatures.len() + 200 < 8 << 10 {
        agents += &format!(";x{}=\"{values}\"", agents.len());
    }
    for (name, value) in [("signature-input", inputs), ("signature", signatures), ("signature-agent", agents)]
    {
        client.headers.push((name.to_owned(), value));
    }
    client
}

fn ruleset(with_keys: bool) -> Ruleset {
    let public = SigningKey::from_bytes(&[1; 32]).verifying_key().to_bytes();
    let keys = json!([{ "directory": "https://signer.test", "source": "keys" }]);
    let document = json!({
        "mode": "enforce",
        "agents": [{ "token": "SigningBot", "keys": if with_keys { keys } else { json!([]) } }],
        "sites": [{}],
        "files": { "keys": { "text": key_directory(&[public]) } },
    });
    let compiled = Ruleset::compile("crawlpike.json", document.to_string().as_bytes(), &NoFiles);
    compiled.ruleset.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics))
}

fn main() {
    use SignatureResult::{BadSignature, Expired, OverBudget, UnknownKey, Verified};
    let arguments: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let kinds = [
        ("no-keys", false, unsigned(), None),
        ("unsigned", true, unsigned(), None),
        ("expired", true, signed(1, "https://signer.test", 3600), Some(Expired)),
        ("unknown", true, signed(1, "https://nobody.test", 0), Some(UnknownKey)),
        ("long", true, long(), Some(SignatureResult::NotCovered)),
        ("forged", true, signed(2, "https://signer.test", 0), Some(BadSignature)),
        ("over-budget", true, over_budget(), Some(OverBudget)),
        ("verified", true, signed(1, "https://signer.test", 0), Some(Verified)),
    ];
    if let [kind, rounds] = &*arguments {
        let (_, with_keys, client, _) =
            kinds.iter().find(|(name, ..)| name == kind).expect("a kind of request");
        run(&ruleset(*with_keys), client, rounds.parse().expect("a number of rounds"));
        return;
    }
    println!("| request | nanoseconds |");
    println!("|---|---|");
    for (name, with_keys, client, expected) in &kinds {
        let ruleset = ruleset(*with_keys);
        let decision = decide(&ruleset, client, Overrides::default());
        assert_eq!(decision.signature(), *expected, "{name}");
        const ROUNDS: usize = 200;
        let time = |_| {
            let start = Instant::now();
            run(&ruleset, client, ROUNDS);
            start.elapsed().as_secs_f64() * 1e9 / ROUNDS as f64
        };
        let median = |_| {
            let mut times: Vec<f64> = (0..31).map(time).collect();
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        println!("| {name} | {:.0} |", (0..5).map(median).fold(f64::INFINITY, f64::min));
    }
}
