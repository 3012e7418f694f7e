//! Reads field lines: those with rules in plain lists here, RFC 8941 lists in [`super::structured`].

use alloc::borrow::Cow;

use memchr::memchr2;

use super::line::{LIMIT, LineRead, Part, Rest, Syntax};
use super::{Rule, known, structured};

/// Reads a line and reports its parts in their order.
pub(super) fn line<'a>(value: &'a [u8], tell: &mut impl FnMut(Part<'a>)) -> LineRead<'a> {
    let value = value.trim_ascii();
    structured::line(value, tell).unwrap_or_else(|| Classic::new(value).read(tell))
}

/// Reads lists of rules with `;`, `token=` and `token:`, which get along with each other.
struct Classic<'a> {
    value: &'a [u8],
    /// Up to a byte past the limit: a separator there shows that the member before it is whole.
    window: &'a [u8],
    at: usize,
    /// The clients that the next rule is for, and the form in which that was said.
    token: Option<(&'a [u8], &'static [u8])>,
    has_draft_00: bool,
    has_deployed: bool,
}

const DRAFT_00: &[u8] = b"=";
const DEPLOYED: &[u8] = b": ";

impl<'a> Classic<'a> {
    fn new(value: &'a [u8]) -> Self {
        let window = value.get(..=LIMIT).unwrap_or(value);
        Self { value, window, at: 0, token: None, has_draft_00: false, has_deployed: false }
    }

    fn read(mut self, tell: &mut impl FnMut(Part<'a>)) -> LineRead<'a> {
        let mut rest = None;
        let mut begins_pair = true;
        while self.at < self.value.len() {
            let head = if begins_pair { self.head() } else { None };
            if begins_pair {
                self.token = head.map(|(name, _)| (name, DRAFT_00));
            }
            let from = head.map_or(self.at, |(_, end)| end);
            let is_draft_00 = self.token.is_some_and(|(_, separator)| separator == DRAFT_00);
            let Some(end) = self.end_of_item(from, is_draft_00) else {
                // The head goes with what it is the head of.
                let token = self.token.filter(|_| head.is_none());
                rest = self.value.get(self.at..).map(|text| Rest { token, text: text.trim_ascii() });
                break;
            };
            if begins_pair {
                tell(head.map_or(Part::All, |(name, _)| part_of_token(name)));
                self.has_draft_00 |= head.is_some();
            }
            self.item(self.text(from, end), is_draft_00, tell);
            begins_pair = self.value.get(end) == Some(&b';');
            self.has_draft_00 |= begins_pair;
            self.at = end;
            self.at += 1;
        }
        let syntax = match (self.has_draft_00, self.has_deployed) {
            (false, false) => Syntax::Plain,
            (false, true) => Syntax::Deployed,
            (true, false) => Syntax::Draft00,
            (true, true) => Syntax::Mixed,
        };
        LineRead { syntax, rest }
    }

    /// The token with which a pair begins, and where its rules do.
    fn head(&self) -> Option<(&'a [u8], usize)> {
        head(self.window.get(self.at..)?).map(|(name, length)| (name, self.at + length))
    }

    /// The end of the item that begins here; `None` if that is past the limit.
    fn end_of_item(&self, from: usize, is_draft_00: bool) -> Option<usize> {
        let mut end = self.separator_from(from)?;
        let (_, text) = parted(self.text(from, end), is_draft_00);
        while is_date(text) && self.value.get(end) == Some(&b',') {
            let next = self.separator_from(end + 1);
            if !continues_date(self.text(end + 1, next.unwrap_or(self.value.len()))) {
                break;
            }
            end = next?;
        }
        Some(end)
    }

    fn separator_from(&self, from: usize) -> Option<usize> {
        let found = memchr2(b',', b';', self.window.get(from..)?).map(|length| from + length);
        found.or((self.value.len() <= LIMIT).then_some(self.value.len()))
    }

    /// Reports an item.
    fn item(&mut self, item: &'a [u8], is_draft_00: bool, tell: &mut impl FnMut(Part<'a>)) {
        let (token, text) = parted(item, is_draft_00);
        if let Some(name) = token {
            self.token = Some((name, DEPLOYED));
            self.has_deployed = true;
            tell(part_of_token(name));
        } else if item == b"*" && !is_draft_00 {
            tell(Part::All);
            return;
        }
        if !text.is_empty() {
            self.has_draft_00 |= text.iter().find(|byte| matches!(byte, b'=' | b':')) == Some(&b'=');
            tell(Part::Rule { rule: rule(text), text });
        }
    }

    fn text(&self, from: usize, end: usize) -> &'a [u8] {
        self.value.get(from..end).unwrap_or_default().trim_ascii()
    }
}

/// An item's token, if it has one, and its rule; behind `token=` there are only rules.
fn parted(item: &[u8], is_draft_00: bool) -> (Option<&[u8]>, &[u8]) {
    let parted = if is_draft_00 { None } else { token_and_rule(item) };
    parted.map_or((None, item), |(name, text)| (Some(name), text))
}

fn part_of_token(name: &[u8]) -> Part<'_> {
    if name == b"*" { Part::All } else { Part::Token { name: Cow::Borrowed(name), text: name } }
}

/// The token before a `=`, and how long it is with that.
fn head(pair: &[u8]) -> Option<(&[u8], usize)> {
    let length = pair.iter().position(|byte| matches!(byte, b'=' | b',' | b';' | b':'))?;
    let name = pair.get(..length)?.trim_ascii();
    let is_head = pair.get(length) == Some(&b'=') && (name == b"*" || known::is_token(name));
    is_head.then_some((name, length + 1))
}

/// Returns true if an item looks like the beginning of a pair, `ExampleBot=noindex`, though it stands where there are
/// only rules.
pub(super) fn looks_like_head(item: &[u8]) -> bool {
    let Some((name, length)) = head(item) else { return false };
    let value = rule(item.get(length..).unwrap_or_default().trim_ascii());
    name != b"*" && (value.name.is_empty() || known::is_plain(&value.name) || known::is_valued(&value.name))
}

/// An item as deployed, `googlebot: noindex`. A rule with a value looks alike: `max-snippet:20`. So the names of those
/// are not tokens, and a blank or a known rule after any other name makes it one.
fn token_and_rule(item: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = item.iter().position(|byte| *byte == b':')?;
    let (name, after) = (item.get(..colon)?.trim_ascii_end(), item.get(colon + 1..)?);
    let is_token = name == b"*" || known::is_token(name);
    let text = after.trim_ascii_start();
    let is_apart = after.is_empty() || text.len() < after.len();
    let is_known = || {
        let name = rule(text).name;
        known::is_plain(&name) || known::is_valued(&name)
    };
    (is_token && (is_apart || is_known())).then_some((name, text))
}

/// A rule with or without a value. What has odd characters where a name should be is relayed whole.
fn rule(text: &[u8]) -> Rule<'_> {
    let parted = text.iter().position(|byte| matches!(byte, b':' | b'=')).and_then(|at| {
        let (name, value) = (text.get(..at)?.trim_ascii_end(), text.get(at + 1..)?.trim_ascii_start());
        is_rule_name(name).then_some((name, value))
    });
    let (name, value) = parted.map_or((text, None), |(name, value)| (name, Some(value)));
    Rule { name: Cow::Borrowed(name), value: value.map(Cow::Borrowed) }
}

/// Returns true if a text in a list is read as this rule. Where it `may_name_tokens`, it must not be taken for one.
pub(super) fn is_item(text: &[u8], expected: &Rule<'_>, may_name_tokens: bool) -> bool {
    let is_token = || text == b"*" || token_and_rule(text).is_some() || head(text).is_some();
    if text.is_empty() || text.trim_ascii().len() < text.len() || text.contains(&b';') {
        return false;
    }
    if may_name_tokens && is_token() || rule(text) != *expected {
        return false;
    }
    let mut parts = text.split(|byte| *byte == b',').skip(1);
    match is_date(text) {
        true => parts.all(|part| continues_date(part.trim_ascii())),
        false => parts.next().is_none(),
    }
}

/// Returns true if a rule may be called so: what a parameter's key may be (RFC 8941, 3.1.2), in any case.
pub(super) fn is_rule_name(name: &[u8]) -> bool {
    name.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'*')
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'*'))
}

/// Returns true if a rule's value is a date, which may hold commas.
pub(super) fn is_date(text: &[u8]) -> bool {
    known::is_date_rule(&rule(text).name)
}

/// Returns true if what follows a comma still belongs to a date: `25 Jun 2010`, `25-Jun-10` or `June 25`; no rule looks
/// so.
pub(super) fn continues_date(text: &[u8]) -> bool {
    const MONTHS: [&[u8]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let is_month =
        text.get(..3).is_some_and(|start| MONTHS.iter().any(|month| start.eq_ignore_ascii_case(month)));
    let rest = match is_month {
        true => {
            let name = text.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'.').count();
            let after = text.get(name..).unwrap_or_default();
            if !after.starts_with(b" ") {
                return false;
            }
            after.trim_ascii_start()
        }
        false => text,
    };
    rest.first().is_some_and(u8::is_ascii_digit)
}
