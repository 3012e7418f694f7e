//! The RFC 8941 list of later drafts: product tokens whose parameters are rules, `*;noindex, ExampleBot;nosnippet`.
//!
//! Short values can be read as draft-00, too: `noindex; examplebot=nosnippet` is a list of one token with a parameter.
//! So a line is taken for such a list only where all of it is one, something in it is a parameter or the token `*`, no
//! token is called as a rule is (in quotes it may be), and no parameter's value is a word, unless its key is a rule that
//! has one.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::line::{LIMIT, LineRead, Part, Rest, Syntax};
use super::{Rule, known};

/// Reads a line that is such a list; `None`: it is none.
pub(super) fn line<'a>(value: &'a [u8], tell: &mut impl FnMut(Part<'a>)) -> Option<LineRead<'a>> {
    let end = end_of_whole_members(value)?;
    let (members, after) = value.split_at_checked(end)?;
    let mut lexer = Lexer::new(members);
    while !lexer.rest().is_empty() {
        lexer.member(&mut |lexeme| tell_part(lexeme, tell)).ok()?;
        lexer.comma();
    }
    let text = after.strip_prefix(b",").unwrap_or(after).trim_ascii();
    let rest = (!text.is_empty()).then_some(Rest { token: None, text });
    Some(LineRead { syntax: Syntax::Structured, rest })
}

/// Returns true if a line would be taken for such a list.
pub(super) fn is_list(value: &[u8]) -> bool {
    end_of_whole_members(value).is_some()
}

fn tell_part<'a>(lexeme: Lexeme<'a>, tell: &mut impl FnMut(Part<'a>)) {
    match lexeme {
        Lexeme::Member { name, .. } if *name == *b"*" => tell(Part::All),
        Lexeme::Member { name, text, .. } => tell(Part::Token { name, text }),
        // False: the rule is not there.
        Lexeme::Parameter { value: Value::Boolean(false), .. } => {}
        Lexeme::Parameter { key, value, text } => {
            let value = match value {
                Value::Boolean(_) => None,
                Value::Word(raw) | Value::Number(raw) => Some(Cow::Borrowed(raw)),
                Value::String(content) => Some(content),
            };
            tell(Part::Rule { rule: Rule { name: Cow::Borrowed(key), value }, text });
        }
    }
}

/// Up to where the line is a list whose members are whole within the limit; `None` if it is not a list.
fn end_of_whole_members(value: &[u8]) -> Option<usize> {
    let is_all = value.len() <= LIMIT;
    let mut lexer = Lexer::new(value.get(..=LIMIT).unwrap_or(value));
    let (mut is_possible, mut is_certain) = (true, false);
    let mut judge = |lexeme: Lexeme<'_>| match lexeme {
        Lexeme::Member { is_quoted: true, .. } => {}
        Lexeme::Member { name, .. } => {
            is_certain |= *name == *b"*";
            is_possible &= !known::is_plain(&name) && !known::is_valued(&name);
        }
        Lexeme::Parameter { key, value, .. } => {
            is_certain = true;
            is_possible &= !matches!(value, Value::Word(_)) || known::is_valued(key);
        }
    };
    let mut end = 0;
    loop {
        match lexer.member(&mut judge) {
            Ok(()) => {}
            Err(Unfit::Ended) if !is_all => break,
            // A comma too many at the end.
            Err(Unfit::Ended) if end > 0 && lexer.begins_member => break,
            Err(_) => return None,
        }
        if lexer.rest().is_empty() {
            if is_all {
                end = value.len();
            }
            break;
        }
        end = lexer.at;
        if !lexer.comma() {
            return None;
        }
    }
    (is_possible && is_certain).then_some(end)
}

/// The parts of a list.
enum Lexeme<'a> {
    Member { name: Cow<'a, [u8]>, is_quoted: bool, text: &'a [u8] },
    Parameter { key: &'a [u8], value: Value<'a>, text: &'a [u8] },
}

/// The value of a parameter (RFC 8941, 3.3), as far as rules can have it.
enum Value<'a> {
    Boolean(bool),
    /// A token.
    Word(&'a [u8]),
    /// A number, a date (RFC 9651) or a byte sequence, as it is written.
    Number(&'a [u8]),
    String(Cow<'a, [u8]>),
}

/// The reason why text is not a list.
enum Unfit {
    /// It breaks the syntax.
    Syntax,
    /// It is one as far as it goes, but must go on.
    Ended,
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    /// True if nothing of the next member was read yet.
    begins_member: bool,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, begins_member: true }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Result<u8, Unfit> {
        self.rest().first().copied().ok_or(Unfit::Ended)
    }

    /// Takes what is as long as this, or all that is left.
    fn take(&mut self, length: usize) -> &'a [u8] {
        let rest = self.rest();
        let taken = rest.get(..length).unwrap_or(rest);
        self.at += taken.len();
        taken
    }

    fn take_while(&mut self, is_wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let length = self.rest().iter().take_while(|byte| is_wanted(**byte)).count();
        self.take(length)
    }

    fn blanks(&mut self) {
        self.take_while(|byte| matches!(byte, b' ' | b'\t'));
    }

    /// Goes over the comma between two members; false where there is none.
    fn comma(&mut self) -> bool {
        self.begins_member = true;
        let is_comma = self.peek().is_ok_and(|byte| byte == b',');
        if is_comma {
            self.at += 1;
            self.blanks();
        }
        is_comma
    }

    /// Reads a member with its parameters and the blanks behind it.
    fn member(&mut self, tell: &mut impl FnMut(Lexeme<'a>)) -> Result<(), Unfit> {
        let from = self.at;
        let first = self.peek()?;
        self.begins_member = false;
        let (name, is_quoted) = match first {
            b'"' => (self.string()?, true),
            b'*' => (Cow::Borrowed(self.take(1)), false),
            _ => {
                let name =
                    self.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
                (Cow::Borrowed(name), false)
            }
        };
        if name.is_empty() {
            return Err(Unfit::Syntax);
        }
        tell(Lexeme::Member { name, is_quoted, text: self.text.get(from..self.at).unwrap_or_default() });
        self.blanks();
        while self.peek().is_ok_and(|byte| byte == b';') {
            self.at += 1;
            self.blanks();
            self.parameter(tell)?;
            self.blanks();
        }
        Ok(())
    }

    fn parameter(&mut self, tell: &mut impl FnMut(Lexeme<'a>)) -> Result<(), Unfit> {
        let from = self.at;
        let first = self.peek()?;
        if !first.is_ascii_alphabetic() && first != b'*' {
            return Err(Unfit::Syntax);
        }
        // Keys are lower case; rules are not, and draft-03 says so.
        let key =
            self.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'*'));
        let value = match self.peek() {
            Ok(b'=') => {
                self.at += 1;
                self.value()?
            }
            _ => Value::Boolean(true),
        };
        tell(Lexeme::Parameter { key, value, text: self.text.get(from..self.at).unwrap_or_default() });
        Ok(())
    }

    fn value(&mut self) -> Result<Value<'a>, Unfit> {
        match self.peek()? {
            b'"' => self.string().map(Value::String),
            b'?' => match self.take(2) {
                b"?0" => Ok(Value::Boolean(false)),
                b"?1" => Ok(Value::Boolean(true)),
                b"?" => Err(Unfit::Ended),
                _ => Err(Unfit::Syntax),
            },
            b'0'..=b'9' | b'-' | b'@' => {
                let sign = self.take(1).len();
                let from = self.at - sign;
                self.take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
                Ok(Value::Number(self.text.get(from..self.at).unwrap_or_default()))
            }
            first if first.is_ascii_alphabetic() || first == b'*' => Ok(Value::Word(
                self.take_while(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte)),
            )),
            _ => Err(Unfit::Syntax),
        }
    }

    /// A string in quotes, in which a backslash goes before a quote or another backslash.
    fn string(&mut self) -> Result<Cow<'a, [u8]>, Unfit> {
        let from = self.at + 1;
        let mut escaped = Vec::new();
        let mut plain_from = from;
        self.at = from;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    escaped.extend_from_slice(self.text.get(plain_from..self.at).unwrap_or_default());
                    self.at += 1;
                    plain_from = self.at;
                    if !matches!(self.peek()?, b'"' | b'\\') {
                        return Err(Unfit::Syntax);
                    }
                }
                b' '..=b'~' => {}
                _ => return Err(Unfit::Syntax),
            }
            self.at += 1;
        }
        let last = self.text.get(plain_from..self.at).unwrap_or_default();
        self.at += 1;
        if plain_from == from {
            return Ok(Cow::Borrowed(last));
        }
        escaped.extend_from_slice(last);
        Ok(Cow::Owned(escaped))
    }
}
