//! Which agent a User-Agent claims to be.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::catalog;
use crate::user_agent::words::continues_word;
use crate::user_agent::{Claims, Speaker, Tokens};

/// The documented rule (`docs/identity.md`), implemented word for word and slowly.
fn model(tokens: &[&str], user_agent: &[u8]) -> Option<usize> {
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        for start in 0..=user_agent.len().saturating_sub(token.len()) {
            let end = start + token.len();
            let alone = |at: Option<&u8>| at.is_none_or(|byte| !continues_word(*byte));
            if user_agent.get(start..end).is_some_and(|part| part.eq_ignore_ascii_case(token.as_bytes()))
                && alone(start.checked_sub(1).and_then(|at| user_agent.get(at)))
                && alone(user_agent.get(end))
            {
                found.push((usize::MAX - token.len(), start, index));
            }
        }
    }
    found.into_iter().min().map(|(_, _, index)| index)
}

#[test]
fn look_alikes_claim_nothing_or_themselves() {
    let (tokens, _) = catalog();
    let compiled = Tokens::new(tokens.iter().map(String::as_str));
    let claim = |user_agent: &str| compiled.find(user_agent.as_bytes()).map(|index| tokens[index].as_str());
    assert_eq!(claim("Googlebot/2.1 (+http://www.google.com/bot.html)"), Some("Googlebot"));
    assert_eq!(claim("Googlebot"), Some("Googlebot"));
    assert_eq!(claim("Mozilla/5.0 (compatible; GOOGLEBOT"), Some("Googlebot"));
    assert_eq!(claim("Googlebot-Image/1.0"), Some("Googlebot-Image"));
    assert_eq!(claim("Googlebot-Mobile/2.1"), None);
    assert_eq!(claim("NotGooglebot/2.1"), None);
    assert_eq!(claim("mygooglebot"), None);
    assert_eq!(claim("Googlebot_x"), None);
    assert_eq!(claim("x_Googlebot"), None);
    assert_eq!(claim("Googlebot2"), None);
    assert_eq!(claim("Googlebot-"), None);
    assert_eq!(claim("Żyłka Googlebotów"), None);
    assert_eq!(claim("Linguee  Bot"), None);
    assert_eq!(claim("see panscient.com."), Some("panscient.com"));
    assert_eq!(claim("panscientXcom"), None);
    assert_eq!(claim("Mozilla/5.0 (compatible; Linguee Bot; bot@linguee.com)"), Some("Linguee Bot"));
}

#[test]
fn of_several_tokens_the_longest_counts_then_the_first() {
    let claims = Tokens::new(["alpha", "gamma", "alpha beta", "beta", "zetatoken"]);
    assert_eq!(claims.find(b"gamma alpha"), Some(1));
    assert_eq!(claims.find(b"alpha gamma"), Some(0));
    assert_eq!(claims.find(b"gamma; alpha beta"), Some(2));
    assert_eq!(claims.find(b"alpha betas"), Some(0));
    assert_eq!(claims.find(b"alpha beta zetatoken"), Some(2));
    // A token need not begin with a word.
    let claims = Tokens::new([".b", "aa"]);
    assert_eq!(claims.find(b".b aa"), Some(0));
    assert_eq!(claims.find(b"aa .b"), Some(1));
}

#[test]
fn a_token_that_ends_within_a_longer_one_hides_nothing() {
    let claims = Tokens::new(["indexer", "Sidetrade indexer bot", "-aa b", "a"]);
    assert_eq!(claims.find(b"Mozilla/5.0 (compatible; Sidetrade indexer bot/1.0)"), Some(1));
    assert_eq!(claims.find(b"Sidetrade indexer"), Some(0));
    assert_eq!(claims.find(b"-aa b."), Some(2));
}

#[test]
fn a_token_need_not_begin_with_a_word() {
    let texts = [".bot", "(x)"];
    let tokens = Tokens::new(texts);
    assert_eq!(tokens.find(b".bot"), Some(0));
    assert_eq!(tokens.find(b"a .bot/1.0"), Some(0));
    assert_eq!(tokens.find(b"a.bot"), None);
    assert_eq!(
        Claims::new(texts).unwrap().speaker(Some(b"Mozilla/5.0 (x) Gecko/20100101 Firefox/1.0")),
        Speaker::Agent(1)
    );
}

#[test]
fn odd_user_agents_are_read_to_their_end() {
    let claims = Tokens::new(["ExampleBot"]);
    assert_eq!(claims.find(b""), None);
    assert_eq!(claims.find(b"\xff ExampleBot \xfe\0"), Some(0));
    assert_eq!(claims.find(b"\xc3\xa9ExampleBot"), None);
    assert_eq!(claims.find(b"ExampleBot\xe9"), None);
    let mut long = vec![b'x'; 8192 - 11];
    long.extend_from_slice(b" ExampleBot");
    assert_eq!(claims.find(&long), Some(0));
    long[8192 - 11] = b'-';
    assert_eq!(claims.find(&long), None);
    assert_eq!(Tokens::new([]).find(b"ExampleBot"), None);
}

#[test]
fn an_agent_comes_before_what_else_names_automation() {
    let claims = Claims::new(["GTmetrix", "Code"]).unwrap();
    let chrome = b"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/98.0 Safari/537.36 GTmetrix";
    assert_eq!(claims.speaker(Some(chrome)), Speaker::Agent(0));
    assert_eq!(claims.speaker(Some(b"curl/8 (+https://bot.example) Code")), Speaker::Agent(1));
}

proptest! {
    #[test]
    fn the_claim_is_that_of_the_model(
        tokens in prop::collection::btree_set("[ab.-]{0,3}[ab]( [ab])?", 0..8),
        user_agent in prop::collection::vec(prop::sample::select(b"aAbB.- _\xe9;".to_vec()), 0..160),
    ) {
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let claims = Tokens::new(tokens.iter().copied());
        prop_assert_eq!(claims.find(&user_agent), model(&tokens, &user_agent));
    }
}
