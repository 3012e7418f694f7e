//! Who a User-Agent says its client is: the agent whose token it has, some other automation, or a browser.
//!
//! A token counts only where it stands alone, that is, where neither the character before it nor the one after it
//! continues a word. Other names of automation are whole words, too. So one pass over the words finds everything: a
//! filter of the names' first four characters rules out nearly all words of a browser's User-Agent at once.

use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use core::ops::Range;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};

use super::form::has_form_of_browser;
use super::known_parts::{may_hide, unknown_parts};
use super::lists::NAMES;
use super::reading::{Claim, Reading, may_be_ending};
use super::token::{TokenError, check_token};
use super::window_filter::WindowFilter;
use super::words::{continues_word, words};
use crate::sort::sort_by;

/// A token that [`Claims`] refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimsError {
    /// The token at this index is not one.
    Token(usize, TokenError),
    /// The token at this index occurs twice (in any case).
    Duplicate(usize),
    /// There are too many tokens for one automaton.
    TooMany,
}

impl fmt::Display for ClaimsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(index, problem) => write!(f, "token {index}: {problem}"),
            Self::Duplicate(index) => write!(f, "token {index} occurs twice (in any case)"),
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
    /// Automation that claims no agent.
    Automation,
    /// A person's browser.
    Browser,
}

/// The tokens of all agents, ready to be found in a User-Agent.
///
/// ```
/// use crawlward_core::internals::{Claims, Speaker};
///
/// let claims = Claims::new(["Googlebot", "Googlebot-Image", "bingbot"])?;
/// assert_eq!(claims.find(b"Mozilla/5.0 (compatible; Googlebot/2.1)"), Some(0));
/// assert_eq!(claims.find(b"NotGooglebot/1.0"), None);
/// assert_eq!(claims.speaker(Some(b"googlebot-image/1.0")), Speaker::Agent(1));
/// assert_eq!(claims.speaker(Some(b"curl/8.5.0")), Speaker::Automation);
/// # Ok::<(), crawlward_core::internals::ClaimsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Claims {
    /// Walked anchored from a token's first byte. Most walks end within a few bytes, so the contiguous NFA is as fast
    /// as a DFA here, and takes much less memory.
    tokens: NFA,
    /// Where one of the tokens or of [`NAMES`] may begin.
    beginnings: WindowFilter,
    /// Whether the known parts of a browser's User-Agent need not be read, since no token begins in one.
    pub(super) skips_known_parts: bool,
    /// Whether a token does not begin with a word: `.bot`.
    begins_between_words: bool,
}

impl Claims {
    /// Compiles `tokens`, which must differ in more than case.
    pub fn new<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Result<Self, ClaimsError> {
        let tokens: Vec<&str> = tokens.into_iter().collect();
        let mut folded = Vec::with_capacity(tokens.len());
        for (index, token) in tokens.iter().enumerate() {
            check_token(token).map_err(|problem| ClaimsError::Token(index, problem))?;
            folded.push((token.to_ascii_lowercase(), index));
        }
        sort_by(&mut folded, Ord::cmp);
        for pair in folded.windows(2) {
            if let [first, second] = pair
                && first.0 == second.0
            {
                return Err(ClaimsError::Duplicate(second.1));
            }
        }
        let mut beginnings = NAMES.beginnings.clone();
        tokens.iter().for_each(|token| beginnings.insert_beginning(token.as_bytes()));
        let automaton = NFA::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .prefilter(false)
            .build(&tokens)
            .map_err(|_| ClaimsError::TooMany)?;
        Ok(Self {
            tokens: automaton,
            beginnings,
            skips_known_parts: !tokens.iter().any(|token| may_hide(token)),
            begins_between_words: tokens
                .iter()
                .any(|token| !token.bytes().next().is_some_and(continues_word)),
        })
    }

    /// Who the User-Agent says its client is.
    ///
    /// No User-Agent, or a blank one, is automation's: every browser sends one. If a doubt is left, the client is a
    /// person: to deny a person costs more than to let one more bot through. `docs/identity.md` explains the rules.
    ///
    /// Allocates nothing; time is linear in the User-Agent.
    pub fn speaker(&self, user_agent: Option<&[u8]>) -> Speaker {
        let text = user_agent.unwrap_or_default().trim_ascii();
        match unknown_parts(text) {
            Some(unknown) if self.skips_known_parts && unknown.iter().all(Range::is_empty) => {
                Speaker::Browser
            }
            unknown => self.speaker_of(text, unknown),
        }
    }

    /// The slow path of [`Self::speaker`], in which something has to be read.
    #[inline(never)]
    fn speaker_of(&self, text: &[u8], unknown: Option<[Range<usize>; 2]>) -> Speaker {
        let has_known_form = unknown.is_some();
        let parts = unknown.filter(|_| self.skips_known_parts).unwrap_or([0..text.len(), 0..0]);
        let mut reading = Reading::new(text);
        for part in &parts {
            self.read::<true>(part.clone(), &mut reading);
        }
        match reading.claim {
            Some(Claim { token, .. }) => Speaker::Agent(token),
            None if reading.names_automation(&parts) => Speaker::Automation,
            None if has_known_form || has_form_of_browser(text) => Speaker::Browser,
            None => Speaker::Automation,
        }
    }

    /// The index of the token that the User-Agent claims: the longest of those that stand alone in it, and the first of
    /// equally long ones.
    ///
    /// A token stands alone when the characters before and after it are not letters, digits, `-` or `_`. A byte of
    /// 0x80 and above counts as a letter, since in a User-Agent it is part of one (UTF-8, Latin-1).
    ///
    /// Allocates nothing; time is linear in the User-Agent, whatever the tokens are.
    pub fn find(&self, user_agent: &[u8]) -> Option<usize> {
        let mut reading = Reading::new(user_agent);
        self.read::<false>(0..user_agent.len(), &mut reading);
        reading.claim.map(|claim| claim.token)
    }

    /// How many bytes of memory the compiled tokens take.
    pub fn memory_usage(&self) -> usize {
        self.tokens.memory_usage() + size_of::<WindowFilter>()
    }

    /// Reads a part of the text for tokens, and for the names of other automation if `WITH_NAMES`. No word may cross the
    /// ends of the part.
    #[inline]
    fn read<const WITH_NAMES: bool>(&self, part: Range<usize>, reading: &mut Reading<'_>) {
        let text = reading.text;
        for word in words(text.get(part.clone()).unwrap_or_default()) {
            let word = part.start + word.start..part.start + word.end;
            let rest = text.get(word.start..).unwrap_or_default();
            if self.beginnings.may_begin(rest) {
                self.take_claim(word.start, reading);
                if WITH_NAMES && reading.asks_for_names() {
                    reading.take_name(word.start);
                }
            }
            if WITH_NAMES && text.get(word.end - 1).is_some_and(may_be_ending) && reading.asks_for_names() {
                reading.take_ending(word);
            }
        }
        if self.begins_between_words {
            self.read_between_words(part, reading);
        }
    }

    /// Looks for tokens that do not begin with a word.
    #[cold]
    fn read_between_words(&self, part: Range<usize>, reading: &mut Reading<'_>) {
        let mut word_before = false;
        for at in part {
            let rest = reading.text.get(at..).unwrap_or_default();
            let word = rest.first().copied().is_some_and(continues_word);
            if !word && !word_before && self.beginnings.may_begin(rest) {
                self.take_claim(at, reading);
            }
            word_before = word;
        }
    }

    /// Notes the longest token that begins here, if it is longer than the one noted before, or as long and before it.
    #[cold]
    fn take_claim(&self, start: usize, reading: &mut Reading<'_>) {
        let rest = reading.text.get(start..).unwrap_or_default();
        if let Some((length, token)) = self.longest_at(rest)
            && reading.claim.is_none_or(|best| (length, Reverse(start)) > (best.length, Reverse(best.start)))
        {
            reading.claim = Some(Claim { length, start, token });
        }
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
