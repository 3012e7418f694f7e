//! Doubts that pass: the gate has not examined the signature, or not looked up the name, that may verify the client.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;

use crate::request::budget::ALONE;
use crate::request::tests::BROWSER;
use crate::request::{NameFact, NameOutcome, NetworkKey, Overrides, PlainRequest, Scheme, SignatureBudget};
use crate::sign::key_directory;
use crate::{Doubt, Identity, NoFiles, Reason, Ruleset, decide};

const NOW: i64 = 1_800_000_000;
const ADDRESS: IpAddr = IpAddr::V4(core::net::Ipv4Addr::new(192, 0, 2, 1));

/// The headers of a signature.
const SIGNED: &[(&str, &[u8])] = &[
    ("signature", b"s=:AAAA:"),
    ("signature-input", b"s=(\"@authority\");tag=\"web-bot-auth\""),
    ("signature-agent", b"\"https://signer.test\""),
];

/// A budget of which the client's network has spent its share.
fn spent() -> SignatureBudget {
    let budget = SignatureBudget::new();
    (0..ALONE).for_each(|_| budget.note_bad(NetworkKey::of(Some(ADDRESS)), NOW));
    budget
}

fn late<'a>(
    budget: &'a SignatureBudget,
    host: &'a str,
    user_agent: &'a str,
    headers: &'a [(&'a str, &'a [u8])],
) -> PlainRequest<'a> {
    PlainRequest {
        address: Some(ADDRESS),
        scheme: Some(Scheme::Https),
        authority: Some(host.as_bytes()),
        user_agent: Some(user_agent.as_bytes()),
        headers,
        now: NOW,
        signature_budget: Some(budget),
        ..PlainRequest::default()
    }
}

fn ruleset() -> Ruleset {
    let keys = key_directory(&[[1; 32]]);
    let document = format!(
        r#"{{ "mode": "enforce", "catalog": "none",
        "feeds": [ {{ "name": "f", "format": "cidr", "source": "f" }} ],
        "agents": [ {{ "token": "SigningBot", "keys": [ {{ "directory": "https://signer.test", "source": "k" }} ] }},
                    {{ "token": "RangeBot", "feeds": ["f"] }}, {{ "token": "NameBot", "rdns": ["crawl.example.com"] }} ],
        "sites": [ {{ "hosts": ["strict.test"], "unverified": "deny", "spoofed": "policy" }},
                   {{ "hosts": ["kind.test"], "spoofed": "policy" }}, {{ "robots_txt": "r" }} ],
        "files": {{ "f": {{ "text": "198.51.100.0/24\n" }}, "k": {{ "text": {keys:?} }},
                    "r": {{ "text": "User-agent: *\nDisallow: /closed\n" }} }} }}"#
    );
    let compiled = Ruleset::compile("c.json", document.as_bytes(), &NoFiles);
    compiled.ruleset.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

/// The identity, the doubt, the reason, and of a denial the status and its Retry-After.
type Outcome = (Identity, Option<Doubt>, Reason, Option<(u16, Option<String>)>);

fn outcome(request: &PlainRequest<'_>, name: Option<NameFact>) -> Outcome {
    let ruleset = ruleset();
    let decision = decide(&ruleset, request, Overrides { name, ..Overrides::default() });
    // The status that an operator puts in the place of 403 is for those who are denied for good.
    let reply = ruleset.reply(&decision, request, Some(451));
    let line = ruleset.denial_line(&decision, request);
    let named = decision.doubt.filter(|doubt| doubt.is_passing()).map(|doubt| format!(", doubt: {doubt}"));
    let is_named = named.is_some_and(|doubt| line.contains(&doubt));
    assert_eq!(is_named, reply.as_ref().is_some_and(|reply| reply.status == 503), "{line}");
    let reply = reply.map(|reply| {
        let header =
            |wanted| reply.headers().find(|(name, _)| *name == wanted).map(|(_, value)| value.into());
        assert_eq!(header("Cache-Control").as_deref(), Some("no-store"));
        assert!(String::from_utf8_lossy(&reply.body).contains(&format!("\"status\":{}", reply.status)));
        (reply.status, header("Retry-After"))
    });
    (decision.identity, decision.doubt, decision.reason, reply)
}

// SIG-12
#[test]
fn a_signature_that_is_not_examined_is_a_doubt_and_its_denial_passes() {
    use Doubt::SignatureNotExamined;
    let doubt = Some(SignatureNotExamined);
    let later = Some((503, Some("1".into())));
    for (host, user_agent, reason, reply) in [
        ("strict.test", BROWSER, Reason::UnverifiedAgent, later.clone()),
        ("strict.test", "SigningBot/1.0", Reason::UnverifiedAgent, later.clone()),
        ("strict.test", "curl/8", Reason::UnverifiedAgent, later.clone()),
        ("other.test", BROWSER, Reason::Allowed, None),
        ("other.test", "SigningBot/1.0", Reason::Allowed, None),
        // Without the signature it is a forgery: a site that denies those denies this one for now.
        ("other.test", "RangeBot/1.0", Reason::UnverifiedAgent, later),
        ("kind.test", "RangeBot/1.0", Reason::Allowed, None),
    ] {
        let found = outcome(&late(&spent(), host, user_agent, SIGNED), None);
        assert_eq!(found, (Identity::Unverified, doubt, reason, reply), "{host} {user_agent}");
    }
    // A path that is closed to everybody stays so.
    let budget = spent();
    let closed = PlainRequest { path: b"/closed", ..late(&budget, "other.test", BROWSER, SIGNED) };
    assert_eq!(outcome(&closed, None).2, Reason::RobotsDisallowed);
    assert_eq!(outcome(&closed, None).3, Some((451, None)));
    // Those who do not sign have nothing to do with it.
    let found = outcome(&late(&budget, "strict.test", BROWSER, &[]), None);
    assert_eq!((found.0, found.1), (Identity::None, None));
    let found = outcome(&late(&budget, "other.test", "RangeBot/1.0", &[]), None);
    assert_eq!(found, (Identity::Spoofed, None, Reason::SpoofedAgent, Some((451, None))));
}

// RDNS-1
#[test]
fn a_name_that_is_not_looked_up_is_a_doubt_and_its_denial_passes() {
    let (ruleset, budget) = (ruleset(), spent());
    let request = late(&budget, "strict.test", "NameBot/1.0", &[]);
    let decision = decide(&ruleset, &request, Overrides::default());
    let lookup = ruleset.name_lookup(&decision, &request, None).unwrap();
    let found: Vec<_> = [NameOutcome::Unasked, NameOutcome::Refuted, NameOutcome::Unknown]
        .map(|known| outcome(&request, Some(lookup.fact(known))))
        .map(|(identity, doubt, _, reply)| (identity, doubt, reply))
        .into();
    let denied = (Identity::Unverified, Some(Doubt::NoFeed), Some((451, None)));
    let passing = (Identity::Unverified, Some(Doubt::NameNotLookedUp), Some((503, Some("1".into()))));
    assert_eq!(found, [passing, denied.clone(), denied]);
}
