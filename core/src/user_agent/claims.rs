//! The client that a User-Agent claims: the agent whose token it has, some other automation, or a browser.
//!
//! A token counts only where it stands alone, and so do other names of automation. So one pass over the words finds
//! everything.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::form::has_form_of_browser;
use super::known_parts::{may_hide, unknown_part, unknown_parts};
use super::lists::{SHORTEST_ENDING, SIGNS};
use super::reading::{Reading, may_be_ending};
use super::token::{TokenError, check_token};
use super::vocabulary::{Meaning, Vocabulary};
use super::words::words;

/// A token that [`Claims`] refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimsError {
    /// The token at this index is not one.
    Token(usize, TokenError),
    /// The token at this index occurs twice (in any case).
    Duplicate(usize),
}

impl fmt::Display for ClaimsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(index, problem) => write!(f, "token {index}: {problem}"),
            Self::Duplicate(index) => write!(f, "token {index} occurs twice (in any case)"),
        }
    }
}

impl core::error::Error for ClaimsError {}

/// The client that a User-Agent claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The agent whose token has this index.
    Agent(usize),
    /// Automation that claims no agent.
    Automation,
    /// Automation that has the token with this index where it does not count.
    Misplaced(usize),
    /// A person's browser.
    Browser,
}

/// Tokens, ready to be found in a User-Agent.
///
/// ```
/// use crawlpike_core::internals::Tokens;
///
/// let tokens = Tokens::new(["Googlebot", "Googlebot-Image", "bingbot"]);
/// assert_eq!(tokens.find(b"Mozilla/5.0 (compatible; Googlebot/2.1)"), Some(0));
/// assert_eq!(tokens.find(b"googlebot-image/1.0"), Some(1));
/// assert_eq!(tokens.find(b"NotGooglebot/1.0"), None);
/// ```
#[derive(Clone, Debug)]
pub struct Tokens(Vocabulary);

impl Tokens {
    /// Compiles tokens. One without a letter or digit is never found.
    pub fn new<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Self {
        Self(Vocabulary::new(tokens, &[]))
    }

    /// The index of the token that the User-Agent claims: the longest of those that stand alone in it, and the first of
    /// equally long ones.
    ///
    /// A token stands alone when the characters before and after it are not letters, digits, `-` or `_`. A byte of
    /// 0x80 and above counts as a letter, since in a User-Agent it is part of one (UTF-8, Latin-1).
    ///
    /// Allocates nothing; time is linear in the User-Agent.
    pub fn find(&self, user_agent: &[u8]) -> Option<usize> {
        self.0.longest_token(user_agent)
    }
}

/// The tokens of all agents, and the names that give away other automation.
///
/// ```
/// use crawlpike_core::internals::{Claims, Speaker};
///
/// let claims = Claims::new(["Googlebot", "Googlebot-Image", "bingbot"])?;
/// assert_eq!(claims.speaker(Some(b"Mozilla/5.0 (compatible; Googlebot/2.1)")), Speaker::Agent(0));
/// assert_eq!(claims.speaker(Some(b"googlebot-image/1.0")), Speaker::Agent(1));
/// assert_eq!(claims.speaker(Some(b"curl/8.5.0")), Speaker::Automation);
/// # Ok::<(), crawlpike_core::internals::ClaimsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Claims {
    vocabulary: Vocabulary,
    /// True if the known parts of a browser's User-Agent need not be read, since no token begins in one.
    pub(super) skips_known_parts: bool,
    /// The indices of the few tokens that count only where a User-Agent begins with them.
    at_beginning: Vec<usize>,
}

impl Claims {
    /// Compiles `tokens`, which must differ in more than case.
    pub fn new<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Result<Self, ClaimsError> {
        let tokens: Vec<&str> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            check_token(token).map_err(|problem| ClaimsError::Token(index, problem))?;
        }
        let vocabulary = Vocabulary::new(tokens.iter().copied(), SIGNS);
        // A token is the longest one in itself.
        let is_duplicate =
            |(index, token): &(usize, &&str)| vocabulary.longest_token(token.as_bytes()) != Some(*index);
        if let Some((index, _)) = tokens.iter().enumerate().find(is_duplicate) {
            return Err(ClaimsError::Duplicate(index));
        }
        let skips_known_parts = !tokens.iter().any(|token| may_hide(token));
        Ok(Self { vocabulary, skips_known_parts, at_beginning: Vec::new() })
    }

    /// The same with tokens that count only where a User-Agent begins with them: those for which the iterator, which is in
    /// the order of the tokens, has `true`.
    pub fn counting_at_beginning(mut self, is_so: impl Iterator<Item = bool>) -> Self {
        self.at_beginning.extend(is_so.enumerate().filter_map(|(index, is_so)| is_so.then_some(index)));
        self
    }

    /// Returns true if a token counts at a place.
    fn counts_at(&self, token: usize, start: usize) -> bool {
        start == 0 || !self.at_beginning.contains(&token)
    }

    /// The number of bytes of memory that the compiled tokens and names take.
    pub fn memory_usage(&self) -> usize {
        self.vocabulary.memory_usage()
    }

    /// The client that the User-Agent claims. The token that it claims is that of [`Tokens::find`].
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
        let parts = match unknown {
            Some(unknown) if self.skips_known_parts => unknown,
            None if self.skips_known_parts => [unknown_part(text), 0..0],
            _ => [0..text.len(), 0..0],
        };
        let mut reading = Reading::new(text);
        self.read(&parts, &mut reading);
        match reading.claim.token().map(Speaker::Agent).or(reading.misplaced.map(Speaker::Misplaced)) {
            Some(named) => named,
            None if reading.names_automation(&parts) => Speaker::Automation,
            None if has_known_form || has_form_of_browser(text) => Speaker::Browser,
            None => Speaker::Automation,
        }
    }

    /// Reads parts of the text. No word may cross their ends.
    #[inline(never)]
    fn read(&self, parts: &[Range<usize>], reading: &mut Reading<'_>) {
        let text = reading.text;
        let shortest = self.vocabulary.shortest.min(SHORTEST_ENDING);
        for part in parts {
            words(text, part.clone(), shortest).for_each(|word| {
                self.vocabulary.each_at(text, word, |place, meaning| match meaning {
                    Meaning::Token(token) if self.counts_at(token, place.start) => {
                        reading.claim.note(&place, token);
                    }
                    Meaning::Token(token) => reading.misplaced = Some(token),
                    Meaning::Sign(sign) if reading.asks_for_names() => reading.take_sign(&place, sign),
                    Meaning::Sign(_) => {}
                });
                if text.get(word.end() - 1).is_some_and(may_be_ending) && reading.asks_for_names() {
                    reading.take_ending(word.range());
                }
            });
        }
    }
}
