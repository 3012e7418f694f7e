//! Several signatures, several agents, and how much of them is looked at.

use super::*;

/// SIG-10.
#[test]
fn sig_10_each_signature_is_judged_by_itself() {
    let other = Plan {
        label: "other".into(),
        components: r#""@authority" "signature-agent";key="other""#.into(),
        agent: Some("other=\"https://other.test\"".into()),
        parameters: parameters(NOW, NOW + 50, 8),
        seed: 8,
    };
    let both = sent().signed(&other).signed(&Plan::default());
    assert_eq!(examine(&ring(), &both, None).unwrap().agent, Some(agent(2)), "the first that holds");
    let first_expired = Plan { parameters: parameters(NOW - 500, NOW - 400, 8), ..other.clone() };
    let examined = examine(&ring(), &sent().signed(&first_expired).signed(&Plan::default()), None).unwrap();
    assert_eq!((examined.result, examined.agent), (Verified, Some(agent(1))));
    let first_forged = Plan { seed: 9, ..other.clone() };
    let examined = examine(&ring(), &sent().signed(&first_forged).signed(&Plan::default()), None).unwrap();
    assert_eq!((examined.result, examined.agent), (Verified, Some(agent(1))));
    let forged = Plan { seed: 9, ..Plan::default() };
    let examined = examine(&ring(), &sent().signed(&first_expired).signed(&forged), None).unwrap();
    assert_eq!((examined.result, examined.agent), (BadSignature, Some(agent(1))));
    // A third one costs no third comparison.
    let third = Plan {
        label: "third".into(),
        components: other.components.clone(),
        agent: None,
        ..first_forged.clone()
    };
    let sent = sent().signed(&first_forged).signed(&forged).signed(&third);
    let ring = ring();
    let mut examination = Examination {
        ring: &ring,
        request: &sent,
        claimed: None,
        comparisons: 0,
        verifications: Cell::new(0),
        holding: None,
    };
    for input in structured::members(sent.header_lines(INPUT)) {
        let (label, Member::List(input)) = input.unwrap() else { panic!("a list") };
        let expected = if label == b"third" { Err(OverLimit) } else { Ok(BadSignature) };
        assert_eq!(examination.signature(label, input).map(|examined| examined.result), expected);
    }
}

/// SIG-10.
#[test]
fn sig_10_an_outer_signature_covers_what_the_inner_one_does() {
    let inner = Plan {
        label: "in".into(),
        components: r#""@authority" "@path" "signature-agent";key="in""#.into(),
        agent: Some("in=\"https://other.test\"".into()),
        parameters: parameters(NOW - 500, NOW - 400, 8),
        seed: 8,
    };
    let outer = |components: &str| {
        let plan =
            Plan { components: format!(r#"{components} "signature-agent";key="sig1""#), ..Plan::default() };
        result(&sent().signed(&inner).signed(&plan))
    };
    let all =
        r#""@authority" "@path" "signature-agent";key="in" "signature-input";key="in" "signature";key="in""#;
    assert_eq!(outer(all), Some(Verified));
    for left_out in [r#""@path" "#, r#""signature-agent";key="in" "#, r#""signature-input";key="in" "#] {
        // The inner one has expired; what the outer one is not said to be counts as the first.
        let expected = outer(&all.replace(left_out, ""));
        assert_eq!(expected, Some(Expired), "{left_out}");
    }
}

/// SIG-12.
#[test]
fn sig_12_what_costs_little_is_checked_first() {
    // Each is wrong in all that comes later, too.
    let plan = |created, expires, seed| Plan {
        components: String::new(),
        parameters: parameters(created, expires, seed),
        agent: Some("sig1=\"http://signer.test\"".into()),
        seed: 9,
        ..Plan::default()
    };
    for (wrong, expected) in [
        (plan(NOW - 500, NOW - 400, 9), Expired),
        (plan(NOW + 500, NOW + 600, 9), NotYetValid),
        (plan(NOW, NOW + 50, 9), UnknownKey),
        (plan(NOW, NOW + 50, 7), NotCovered),
        (
            Plan { components: r#""@authority" "signature-agent";key="sig1""#.into(), ..plan(NOW, NOW, 7) },
            Malformed,
        ),
    ] {
        assert_eq!(result(&sent().signed(&wrong)), Some(expected));
        let long = sent().signed(&wrong).with("signature", &"x".repeat(MOST_BYTES));
        assert_eq!(result(&long), Some(OverLimit), "the length comes before all");
    }
}

/// SIG-7.
#[test]
fn sig_7_what_a_client_makes_us_read_is_bounded() {
    let good = sent().signed(&Plan::default());
    let long = good.clone().with("signature-agent", &format!("x=\"{}\"", "a".repeat(MOST_BYTES)));
    assert_eq!(result(&long), Some(OverLimit));
    let at_limit = good.headers.iter().map(|(_, value)| value.len() + 1).sum::<usize>();
    let filling = format!("x=\"{}\"", "a".repeat(MOST_BYTES - at_limit - 5));
    assert_eq!(result(&good.clone().with("signature-agent", &filling)), Some(Verified));
    let with_empty_line = |sent: Sent| sent.with("signature-agent", "");
    assert_eq!(result(&with_empty_line(good.clone().with("signature-agent", &filling))), Some(OverLimit));
    let many: Vec<String> = (0..8).map(|number| format!("s{number}=()")).collect();
    assert_eq!(result(&good.clone().with("signature-input", &many.join(","))), Some(OverLimit));
    assert_eq!(result(&good.clone().with("signature-input", &many[..7].join(","))), Some(Verified));
    let agents: Vec<String> = (0..8).map(|number| format!("a{number}")).collect();
    assert_eq!(result(&good.clone().with("signature-agent", &agents[..7].join(","))), Some(Verified));
    assert_eq!(result(&good.clone().with("signature-agent", &agents.join(","))), Some(OverLimit));
    let items = |count: usize| format!("x=({})", "1 ".repeat(count));
    assert_eq!(result(&good.clone().with("signature-agent", &items(64))), Some(Verified));
    assert_eq!(result(&good.clone().with("signature-agent", &items(65))), Some(Malformed));
    let components: String = (0..16).map(|number| format!("\"x{number}\" ")).collect();
    let plan = Plan { components: format!("{components}\"@authority\""), ..Plan::default() };
    assert_eq!(result(&sent().signed(&plan)), Some(OverLimit));
    let plan = Plan {
        components: r#""@authority" "cookie" "signature-agent";key="sig1""#.into(),
        ..Plan::default()
    };
    let cookie = sent().with("cookie", &"c".repeat(17 << 10)).signed(&plan);
    assert_eq!(result(&cookie), Some(OverLimit));
}

/// SIG-7.
#[test]
fn sig_7_keys_hold_between_their_times() {
    let public = signing_key(7).verifying_key();
    for (not_before, expires, expected) in [
        (Some(NOW), Some(NOW + 1), Verified),
        (Some(NOW + 1), None, UnknownKey),
        (None, Some(NOW), UnknownKey),
    ] {
        let key = Key::between(thumbprint(public.as_bytes()), public, not_before, expires);
        let mut ring = KeyRing::new(60);
        ring.add("https://signer.test/.well-known/http-message-signatures-directory", agent(1), [key].into());
        let examined = examine(&ring, &sent().signed(&Plan::default()), None).unwrap();
        assert_eq!(examined.result, expected);
    }
}

/// SIG-6.
#[test]
fn sig_6_of_agents_that_share_a_directory_the_claimed_one_counts() {
    let mut ring = ring();
    let identifier = "https://signer.test/.well-known/http-message-signatures-directory";
    ring.add(identifier, agent(3), Vec::new());
    let sent = sent().signed(&Plan::default());
    for (claimed, expected) in [(None, 1), (Some(1), 1), (Some(3), 3), (Some(2), 1)] {
        let examined = examine(&ring, &sent, claimed.map(agent)).unwrap();
        assert_eq!(examined.agent, Some(agent(expected)));
    }
}

/// SIG-12.
#[test]
fn sig_12_what_exceeds_the_budget_is_no_forgery() {
    let forger = Plan { seed: 9, ..Plan::default() };
    let budget = Some(Rc::new(SignatureBudget::new()));
    let with_budget = |sent: Sent| Sent { budget: budget.clone(), ..sent };
    let good = with_budget(sent().signed(&Plan::default()));
    let forged = with_budget(sent().signed(&forger));
    let uncovered = Plan { components: r#""signature-agent";key="sig1""#.into(), ..Plan::default() };
    let uncovered = with_budget(sent().signed(&uncovered));
    let expired = Plan { parameters: parameters(NOW - 500, NOW - 400, 7), ..Plan::default() };
    let expired = with_budget(sent().signed(&expired));
    let unknown = Plan { parameters: parameters(NOW, NOW + 50, 9), ..Plan::default() };
    let unknown = with_budget(sent().signed(&unknown));
    // Cheap refusals work as before, and nothing is spent on them; nor on signatures that hold.
    for _ in 0..2 * budget::ALONE {
        assert_eq!(result(&expired), Some(Expired));
        assert_eq!(result(&unknown), Some(UnknownKey));
        assert_eq!(result(&good), Some(Verified));
    }
    let long = unknown.clone().with("signature-agent", &format!("x=\"{}\"", "a".repeat(LONG)));
    assert_eq!(result(&long), Some(UnknownKey));
    for _ in 0..budget::ALONE % 2 {
        assert_eq!(result(&forged), Some(BadSignature));
    }
    assert_eq!(result(&forged), Some(BadSignature));
    for _ in 0..budget::ALONE / 2 - 1 {
        assert_eq!(result(&forged), Some(BadSignature));
        assert_eq!(result(&uncovered), Some(NotCovered));
    }
    for _ in 0..2 * budget::ALONE {
        for sent in [&forged, &uncovered, &good, &expired, &unknown] {
            let examined = examine(&ring(), sent, None).unwrap();
            assert_eq!((examined.result, examined.agent), (OverBudget, None));
        }
    }
    // Other signatures have nothing to do with it: servers of the Fediverse sign in another form.
    let mut other = good.clone();
    other.headers.retain(|(name, _)| name != AGENT);
    assert_eq!(result(&other), None);
    let later = |sent: &Sent| Sent { now: NOW + 1, ..sent.clone() };
    assert_eq!(result(&later(&good)), Some(Verified));
    assert_eq!(result(&later(&forged)), Some(BadSignature));
}

/// SIG-12.
#[test]
fn sig_12_a_request_spends_as_much_as_is_verified_of_it() {
    let one = Plan { seed: 9, ..Plan::default() };
    let other = Plan {
        label: "sig2".into(),
        components: r#""@authority" "signature-agent";key="sig2""#.into(),
        agent: Some(format!("sig2=\"{DIRECTORY}\"")),
        ..one.clone()
    };
    // The base has only one spelling of this host.
    let capitals = Sent { authority: "Example.COM".into(), ..sent() };
    for (sent, cost) in
        [(sent().signed(&one), 1), (capitals.signed(&one), 1), (sent().signed(&one).signed(&other), 2)]
    {
        let sent = Sent { budget: Some(Rc::new(SignatureBudget::new())), ..sent };
        let examined = (0..100).filter(|_| result(&sent) == Some(BadSignature)).count() as u64;
        assert_eq!(examined, budget::ALONE.div_ceil(cost));
    }
}
