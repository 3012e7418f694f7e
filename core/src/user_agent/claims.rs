//! The agent whose token a User-Agent carries.
//!
//! A token counts only where it stands alone, that is, where neither the character before it nor the one after it
//! continues a word. So nothing but places after a word's end can begin a claim, and hardly any of those in a
//! browser's User-Agent do: a small filter of the tokens' first three letters tells which are worth following
//! through the automaton.

use alloc::vec::Vec;
use core::fmt;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};

use super::automation::looks_automated;
use super::byte_mask::{BLOCK, blocks, mask, positions};
use super::plain_browser::{self, is_plain_browser};
use super::window_filter::{WINDOW, WindowFilter};

/// The longest token that is accepted, in bytes.
pub const MAX_TOKEN: usize = 64;

/// Why a token is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenError {
    /// It has no characters.
    Empty,
    /// It is longer than [`MAX_TOKEN`].
    TooLong,
    /// A character that is not printable ASCII, or a quote or a backslash.
    Character(char),
    /// A space before or after it.
    Space,
    /// No letter or digit: it would stand alone nearly everywhere.
    NoWord,
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::TooLong => write!(f, "it is longer than {MAX_TOKEN} bytes"),
            Self::Character(char) => {
                write!(f, "{char:?} can't be in a token; use printable ASCII without quotes")
            }
            Self::Space => f.write_str("it begins or ends with a space; remove it"),
            Self::NoWord => f.write_str("it has no letter or digit"),
        }
    }
}

impl core::error::Error for TokenError {}

/// Whether `token` can stand for an agent: 1 to 64 bytes of printable ASCII without quotes and backslashes.
///
/// RFC 9309 allows letters, `-` and `_` only; agents in use have digits, dots and inner spaces, too.
pub fn check_token(token: &str) -> Result<(), TokenError> {
    if token.is_empty() {
        return Err(TokenError::Empty);
    }
    if token.len() > MAX_TOKEN {
        return Err(TokenError::TooLong);
    }
    if let Some(char) =
        token.chars().find(|char| !matches!(char, ' '..='~') || matches!(char, '"' | '\'' | '\\'))
    {
        return Err(TokenError::Character(char));
    }
    if token.starts_with(' ') || token.ends_with(' ') {
        return Err(TokenError::Space);
    }
    if !token.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        return Err(TokenError::NoWord);
    }
    Ok(())
}

/// A token that [`Claims`] refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimsError {
    /// The token at this index is not one.
    Token(usize, TokenError),
    /// The token at this index is there twice (case aside).
    Duplicate(usize),
    /// There are too many tokens for one automaton.
    TooMany,
}

impl fmt::Display for ClaimsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(index, problem) => write!(f, "token {index}: {problem}"),
            Self::Duplicate(index) => write!(f, "token {index} is there twice (case aside)"),
            Self::TooMany => f.write_str("too many tokens"),
        }
    }
}

impl core::error::Error for ClaimsError {}

/// Who a User-Agent says its client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The agent whose token has this index.
    Agent(usize),
    /// Some automation or other.
    Automation,
    /// A person's browser.
    Browser,
}

/// The tokens of all agents, ready to be found in a User-Agent.
///
/// ```
/// use crawlward_core::user_agent::Claims;
///
/// let claims = Claims::new(["Googlebot", "Googlebot-Image", "bingbot"])?;
/// assert_eq!(claims.find(b"Mozilla/5.0 (compatible; Googlebot/2.1)"), Some(0));
/// assert_eq!(claims.find(b"googlebot-image/1.0"), Some(1));
/// assert_eq!(claims.find(b"NotGooglebot/1.0"), None);
/// # Ok::<(), crawlward_core::user_agent::ClaimsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Claims {
    /// Walked anchored from a token's first byte. The contiguous NFA is as fast here as a DFA, at a small part of its
    /// memory, since most walks are given up within a few bytes.
    tokens: NFA,
    beginnings: WindowFilter,
    /// Whether no token can stand in the User-Agent of a plain browser, so that those need not be looked through.
    spares_plain_browsers: bool,
    /// All bits when a token begins with something else than a letter, as `.bot` and `360Spider` do; else none.
    others_begin: u64,
}

impl Claims {
    /// Compiles `tokens`, which must be distinct without regard to case.
    pub fn new<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Result<Self, ClaimsError> {
        let tokens: Vec<&str> = tokens.into_iter().collect();
        let mut folded = Vec::with_capacity(tokens.len());
        for (index, token) in tokens.iter().enumerate() {
            check_token(token).map_err(|problem| ClaimsError::Token(index, problem))?;
            folded.push((token.to_ascii_lowercase(), index));
        }
        folded.sort_unstable();
        for pair in folded.windows(2) {
            if let [first, second] = pair
                && first.0 == second.0
            {
                return Err(ClaimsError::Duplicate(second.1));
            }
        }
        let beginnings = beginnings(&tokens);
        let letters_only =
            tokens.iter().all(|token| token.starts_with(|first: char| first.is_ascii_alphabetic()));
        let others_begin = if letters_only { 0 } else { u64::MAX };
        let automaton = NFA::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .prefilter(false)
            .build(&tokens)
            .map_err(|_| ClaimsError::TooMany)?;
        let spares_plain_browsers = tokens.iter().all(|token| has_word_of_its_own(token));
        Ok(Self { tokens: automaton, beginnings, spares_plain_browsers, others_begin })
    }

    /// Who the User-Agent says its client is: the one question that a decision asks of it.
    ///
    /// The same as asking [`Claims::find`] and then [`looks_automated`], only that most browsers are told at once.
    pub fn speaker(&self, user_agent: Option<&[u8]>) -> Speaker {
        if self.spares_plain_browsers && user_agent.is_some_and(is_plain_browser) {
            return Speaker::Browser;
        }
        match user_agent.and_then(|user_agent| self.find(user_agent)) {
            Some(token) => Speaker::Agent(token),
            None if looks_automated(user_agent) => Speaker::Automation,
            None => Speaker::Browser,
        }
    }

    /// The index of the token that the User-Agent claims: of those that stand alone in it the longest, of equally
    /// long ones the first.
    ///
    /// A token stands alone when the characters before and after it are not letters, digits, `-` or `_`. A byte of
    /// 0x80 and above counts as a letter, since in a User-Agent it is a part of one (UTF-8, Latin-1).
    ///
    /// Allocates nothing; time is linear in the User-Agent, whatever the tokens are.
    pub fn find(&self, user_agent: &[u8]) -> Option<usize> {
        let mut claim = None;
        let mut word_before = false;
        for (index, block) in blocks(user_agent).enumerate() {
            let word = mask(&block, continues_word);
            let letters = mask(&block, |byte| byte.is_ascii_alphabetic());
            // Versions have many places after a word's end that begin with a digit.
            let begins = !(word << 1 | u64::from(word_before)) & (letters | self.others_begin);
            word_before = word >> (BLOCK - 1) == 1;
            for at in positions(begins) {
                let Some((_, text)) = user_agent.split_at_checked(index * BLOCK + at) else { break };
                if text.get(..WINDOW).is_none_or(|window| self.beginnings.contains(window))
                    && let Some(found) = self.longest_at(text)
                    && claim.is_none_or(|(longest, _)| found.0 > longest)
                {
                    claim = Some(found);
                }
            }
        }
        claim.map(|(_, token)| token)
    }

    /// How many bytes of memory the compiled tokens take.
    pub fn memory_usage(&self) -> usize {
        self.tokens.memory_usage() + size_of::<WindowFilter>()
    }

    /// Length and index of the longest token that `text` begins with and after which no word continues.
    fn longest_at(&self, text: &[u8]) -> Option<(usize, usize)> {
        let mut longest = None;
        let mut state = self.tokens.start_state(Anchored::Yes).ok()?;
        for (index, &byte) in text.iter().enumerate() {
            state = self.tokens.next_state(Anchored::Yes, state, byte);
            if self.tokens.is_special(state) {
                if self.tokens.is_dead(state) {
                    break;
                }
                let len = index + 1;
                if self.tokens.is_match(state) && !text.get(len).copied().is_some_and(continues_word) {
                    // Not every match is a token from here: `indexer` ends within `Sidetrade indexer bot`, too.
                    longest = self.whole_token(state, len).map(|token| (len, token)).or(longest);
                }
            }
        }
        longest
    }

    /// The token of exactly `len` bytes that ends in `state`; the others there are ends of it only.
    fn whole_token(&self, state: StateID, len: usize) -> Option<usize> {
        (0..self.tokens.match_len(state))
            .map(|index| self.tokens.match_pattern(state, index))
            .find(|token| self.tokens.pattern_len(*token) == len)
            .map(|token| token.as_usize())
    }
}

/// Whether a token has a run of letters that no plain browser's User-Agent has. It can't stand in one then, since a token
/// that stands alone begins and ends where words do.
fn has_word_of_its_own(token: &str) -> bool {
    token
        .split(|character: char| !character.is_ascii_alphabetic())
        .any(|run| !run.is_empty() && plain_browser::words().all(|word| !word.eq_ignore_ascii_case(run)))
}

/// The filter that lets every place through where one of the tokens may begin.
fn beginnings(tokens: &[&str]) -> WindowFilter {
    let mut filter = WindowFilter::new();
    for token in tokens {
        match *token.as_bytes() {
            [first, second, third, ..] => filter.insert([first, second, third]),
            [first, second] => (0..=u8::MAX).for_each(|third| filter.insert([first, second, third])),
            // Anything may follow a single byte: every place is worth a look then.
            _ => filter.insert_all(),
        }
    }
    filter
}

/// Whether a word goes on with this byte: a token next to it does not stand alone.
const fn continues_word(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec;
    use proptest::prelude::*;

    #[test]
    fn a_token_made_of_a_browsers_words_is_found_in_a_browsers_user_agent() {
        let text = b"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36";
        for (token, speaker) in [
            ("Chrome", Speaker::Agent(0)),
            ("linux x86_64", Speaker::Agent(0)),
            ("5.0", Speaker::Agent(0)),
            ("ChromeBot", Speaker::Browser),
            ("Chrome-Lighthouse", Speaker::Browser),
        ] {
            assert_eq!(Claims::new([token]).unwrap().speaker(Some(text)), speaker, "{token}");
        }
        assert_eq!(Claims::new(["X"]).unwrap().speaker(None), Speaker::Automation);
    }

    #[test]
    fn a_token_that_ends_within_a_longer_one_hides_nothing() {
        let claims = Claims::new(["indexer", "Sidetrade indexer bot", "-aa b", "a"]).unwrap();
        assert_eq!(claims.find(b"Mozilla/5.0 (compatible; Sidetrade indexer bot/1.0)"), Some(1));
        assert_eq!(claims.find(b"Sidetrade indexer"), Some(0));
        assert_eq!(claims.find(b"-aa b."), Some(2));
    }

    fn catalog_claims() -> (Vec<String>, Claims) {
        use crate::catalog::Catalog;
        use crate::diagnostic::{Diagnostics, Strictness};
        let (name, bytes) = Catalog::builtin();
        let catalog = Catalog::parse(bytes, &mut Diagnostics::new(name, Strictness::Lint)).unwrap();
        let tokens: Vec<String> = catalog.agents.into_iter().map(|agent| agent.token).collect();
        let claims = Claims::new(tokens.iter().map(String::as_str)).unwrap();
        (tokens, claims)
    }

    /// The rule as it is written in the contract, word for word and slowly.
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
        let (tokens, claims) = catalog_claims();
        let claim = |user_agent: &str| claims.find(user_agent.as_bytes()).map(|index| tokens[index].as_str());
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
        let claims = Claims::new(["alpha", "gamma", "alpha beta", "beta", "zetatoken"]).unwrap();
        assert_eq!(claims.find(b"gamma alpha"), Some(1));
        assert_eq!(claims.find(b"alpha gamma"), Some(0));
        assert_eq!(claims.find(b"gamma; alpha beta"), Some(2));
        assert_eq!(claims.find(b"alpha betas"), Some(0));
        assert_eq!(claims.find(b"alpha beta zetatoken"), Some(2));
    }

    #[test]
    fn odd_user_agents_are_read_to_their_end() {
        let claims = Claims::new(["ExampleBot"]).unwrap();
        assert_eq!(claims.find(b""), None);
        assert_eq!(claims.find(b"\xff ExampleBot \xfe\0"), Some(0));
        assert_eq!(claims.find(b"\xc3\xa9ExampleBot"), None);
        assert_eq!(claims.find(b"ExampleBot\xe9"), None);
        let mut long = vec![b'x'; 8192 - 11];
        long.extend_from_slice(b" ExampleBot");
        assert_eq!(claims.find(&long), Some(0));
        long[8192 - 11] = b'-';
        assert_eq!(claims.find(&long), None);
        assert_eq!(Claims::new([]).unwrap().find(b"ExampleBot"), None);
    }

    #[test]
    fn absurd_tokens_are_refused() {
        let refused = |token: &str| check_token(token).unwrap_err();
        assert_eq!(refused(""), TokenError::Empty);
        assert_eq!(refused(&"a".repeat(65)), TokenError::TooLong);
        assert_eq!(refused("a\tb"), TokenError::Character('\t'));
        assert_eq!(refused("a\"b"), TokenError::Character('"'));
        assert_eq!(refused("żuk"), TokenError::Character('ż'));
        assert_eq!(refused(" a"), TokenError::Space);
        assert_eq!(refused("*"), TokenError::NoWord);
        assert_eq!(check_token(&"a".repeat(64)), Ok(()));
        assert_eq!(
            Claims::new(["a", "b\n"]).unwrap_err(),
            ClaimsError::Token(1, TokenError::Character('\n'))
        );
        assert_eq!(Claims::new(["a", "b", "A"]).unwrap_err(), ClaimsError::Duplicate(2));
    }

    proptest! {
        #[test]
        fn the_claim_is_that_of_the_model(
            tokens in prop::collection::btree_set("[ab.-]{0,3}[ab]( [ab])?", 0..8),
            user_agent in prop::collection::vec(prop::sample::select(b"aAbB.- _\xe9;".to_vec()), 0..40),
        ) {
            let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
            let claims = Claims::new(tokens.iter().copied()).unwrap();
            prop_assert_eq!(claims.find(&user_agent), model(&tokens, &user_agent));
        }
    }
}
