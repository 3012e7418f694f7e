//! Writes field lines. What is written is read back as the same; what a syntax has no way to say is left out.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{RobotsTag, Rule, TokenRules, Whom, known, read, structured};
use crate::config::RobotsTagSyntax;

impl<'a> RobotsTag<'a> {
    /// The value of a `Robots-Tag` line; empty where there is nothing to say.
    pub fn write(&self, syntax: RobotsTagSyntax) -> Vec<u8> {
        match syntax {
            RobotsTagSyntax::Draft00 => self.draft_00(b"; ", b""),
            RobotsTagSyntax::Draft00Abnf => self.draft_00(b" ", b";"),
            RobotsTagSyntax::Structured => self.structured(),
        }
    }

    /// The values of the `X-Robots-Tag` lines for current crawlers: one for all, and one for each token that has
    /// rules, because there is no way to say that a token has none.
    pub fn deployed_lines(&self) -> Vec<Box<[u8]>> {
        let mut lines = Vec::new();
        let mut add = |who: &[u8], rules: &[Rule<'_>]| {
            let rules = list(rules, true);
            if !rules.is_empty() {
                lines.push([who, &rules].concat().into());
            }
        };
        add(b"", &self.global);
        self.product_tokens().for_each(|token| add(&[&token.name, &b": "[..]].concat(), &token.rules));
        lines
    }

    /// The rules that crawlers with this token have to obey, or those with none: the sum of the token's own rules and
    /// of those for all (TAG-7), as they are deployed.
    pub fn effective(&self, token: Option<&str>) -> Vec<u8> {
        let mut sum = RobotsTag::default();
        let own = token.and_then(|token| self.tokens.iter().find(|own| own.is(token.as_bytes())));
        for rule in own.map_or(&[][..], |own| &own.rules).iter().chain(&self.global) {
            sum.add_rule(Whom::All, rule.borrowed());
        }
        list(&sum.global, true)
    }

    /// The tokens that can stand before `=` and `:`.
    fn product_tokens(&self) -> impl Iterator<Item = &TokenRules<'a>> {
        self.tokens.iter().filter(|token| known::is_token(&token.name))
    }

    fn draft_00(&self, between: &[u8], after: &[u8]) -> Vec<u8> {
        let mut pairs = Vec::new();
        let global = list(&self.global, true);
        if !global.is_empty() {
            pairs.push([&global, after].concat());
        }
        for token in self.product_tokens() {
            pairs.push([&token.name, &b"="[..], &list(&token.rules, false), after].concat());
        }
        let line = pairs.join(between);
        // Odd rules can look like tokens and parameters; the global token shows that they are neither.
        if structured::is_list(&line) { [b"*=", &*line].concat() } else { line }
    }

    fn structured(&self) -> Vec<u8> {
        let mut line = Vec::new();
        if !self.global.is_empty() {
            let member = member(b"*", &self.global);
            line.extend((member != b"*").then_some(member));
        }
        line.extend(self.tokens.iter().filter_map(|token| Some(member(&item(&token.name)?, &token.rules))));
        let line = line.join(&b", "[..]);
        // Tokens without any rule look like rules; the global token without any shows what they are.
        if line.is_empty() || structured::is_list(&line) { line } else { [b"*, ", &*line].concat() }
    }
}

impl TokenRules<'_> {
    fn is(&self, token: &[u8]) -> bool {
        self.name.eq_ignore_ascii_case(token)
    }
}

/// Rules as a list with commas; `may_name_tokens`: where it stands, `name: rule` in it would name a token.
fn list(rules: &[Rule<'_>], may_name_tokens: bool) -> Vec<u8> {
    let mut list = Vec::new();
    let mut follows_date = false;
    for rule in rules {
        let text = text(rule);
        if !read::is_item(&text, rule, may_name_tokens) || follows_date && read::continues_date(&text) {
            continue;
        }
        if !list.is_empty() {
            list.extend_from_slice(b", ");
        }
        list.extend_from_slice(&text);
        follows_date = read::is_date(&text);
    }
    list
}

/// `max-snippet:20`, but with a blank before a date, as it is documented.
fn text(rule: &Rule<'_>) -> Vec<u8> {
    let separator: &[u8] = match &rule.value {
        None => b"",
        Some(_) if known::is_date_rule(&rule.name) => b": ",
        Some(_) => b":",
    };
    [&rule.name, separator, rule.value.as_deref().unwrap_or_default()].concat()
}

/// A token with its rules as parameters. Of two parameters with one key only the last would count, so the second begins
/// another member for the same token; but not for one that is longer than any real one, which would fill the memory.
fn member(token: &[u8], rules: &[Rule<'_>]) -> Vec<u8> {
    const LONGEST_REPEATED: usize = 64;
    let mut member = token.to_vec();
    let mut keys = BTreeSet::new();
    for rule in rules.iter().filter(|rule| read::is_rule_name(&rule.name)) {
        let key = rule.name.to_ascii_lowercase();
        let Some(value) = rule.value.as_ref().map_or(Some(Vec::new()), |value| bare_item(&key, value)) else {
            continue;
        };
        if keys.contains(&key) && token.len() <= LONGEST_REPEATED {
            member.extend_from_slice(&[b", ", token].concat());
            keys.clear();
        }
        member.push(b';');
        member.extend_from_slice(&key);
        if rule.value.is_some() {
            member.push(b'=');
            member.extend_from_slice(&value);
        }
        keys.insert(key);
    }
    member
}

/// A product token as an item; `None`: there is no such item.
fn item(token: &[u8]) -> Option<Vec<u8>> {
    let is_bare = known::is_token(token)
        && !known::is_plain(token)
        && token.first().is_some_and(u8::is_ascii_alphabetic);
    if is_bare { Some(token.to_vec()) } else { string(token) }
}

/// The value of a parameter: an integer, a word where the rule has words, or a string.
fn bare_item(key: &[u8], value: &[u8]) -> Option<Vec<u8>> {
    const MOST_DIGITS: usize = 15;
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let is_integer = (1..=MOST_DIGITS).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let is_word = value.first().is_some_and(u8::is_ascii_alphabetic) && read::is_rule_name(value);
    if is_integer || is_word && known::is_valued(key) { Some(value.to_vec()) } else { string(value) }
}

/// A string in quotes; `None` where there is a byte that none can hold.
fn string(text: &[u8]) -> Option<Vec<u8>> {
    if !text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return None;
    }
    let mut string = Vec::from(b"\"");
    for byte in text {
        if matches!(byte, b'"' | b'\\') {
            string.push(b'\\');
        }
        string.push(*byte);
    }
    string.push(b'"');
    Some(string)
}
