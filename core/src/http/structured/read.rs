//! Reading structured fields from the front (RFC 9651, 4.2).

use super::{Bare, InnerList, Item, Malformed, Most, Parameters};
use crate::http::token::is_token_byte;

/// Reads a structured field from the front, with this much in a value.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8], pub(super) Most);

impl<'a> Reader<'a> {
    fn take_while(&mut self, is_wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let length = self.0.iter().take_while(|byte| is_wanted(**byte)).count();
        let (taken, rest) = self.0.split_at_checked(length).unwrap_or_default();
        self.0 = rest;
        taken
    }

    pub(super) fn skip(&mut self, is_blank: impl Fn(u8) -> bool) {
        self.take_while(is_blank);
    }

    /// Takes one byte if it is this one.
    pub(super) fn takes(&mut self, wanted: u8) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if *first == wanted => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// The text that was read since `start`, an earlier state of the reader.
    pub(super) fn since(&self, start: &'a [u8]) -> &'a [u8] {
        start.get(..start.len().saturating_sub(self.0.len())).unwrap_or_default()
    }

    pub(super) fn key(&mut self) -> Result<&'a [u8], Malformed> {
        if !self.0.first().is_some_and(|byte| byte.is_ascii_lowercase() || *byte == b'*') {
            return Err(Malformed);
        }
        let is_in_key = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'.' | b'*')
        };
        Ok(self.take_while(is_in_key))
    }

    pub(super) fn item(&mut self) -> Result<Item<'a>, Malformed> {
        Ok(Item { value: self.bare()?, parameters: self.parameters()? })
    }

    pub(super) fn inner_list(&mut self) -> Result<InnerList<'a>, Malformed> {
        if !self.takes(b'(') {
            return Err(Malformed);
        }
        let start = self.0;
        for _ in 0..=self.1.items {
            self.skip(|byte| byte == b' ');
            let items = self.since(start);
            if self.takes(b')') {
                return Ok(InnerList { items, parameters: self.parameters()? });
            }
            self.item()?;
            if !matches!(self.0.first(), Some(b' ' | b')')) {
                return Err(Malformed);
            }
        }
        Err(Malformed)
    }

    pub(super) fn parameters(&mut self) -> Result<Parameters<'a>, Malformed> {
        let start = self.0;
        // Most values have none.
        if start.first() != Some(&b';') {
            return Ok(Parameters(b""));
        }
        let mut count = 0;
        while self.parameter()?.is_some() {
            count += 1;
            if count > self.1.parameters {
                return Err(Malformed);
            }
        }
        Ok(Parameters(self.since(start)))
    }

    pub(super) fn parameter(&mut self) -> Result<Option<(&'a [u8], Bare<'a>)>, Malformed> {
        if !self.takes(b';') {
            return Ok(None);
        }
        self.skip(|byte| byte == b' ');
        let key = self.key()?;
        let value = if self.takes(b'=') { self.bare()? } else { Bare::Boolean(true) };
        Ok(Some((key, value)))
    }

    fn bare(&mut self) -> Result<Bare<'a>, Malformed> {
        let start = self.0;
        match start.first().ok_or(Malformed)? {
            b'-' | b'0'..=b'9' => self.number(),
            b'"' => self.string().map(Bare::String),
            b':' => {
                self.takes(b':');
                let text = self
                    .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
                if self.takes(b':') { Ok(Bare::Bytes(text)) } else { Err(Malformed) }
            }
            b'?' => {
                self.takes(b'?');
                match (self.takes(b'1'), self.takes(b'0')) {
                    (true, false) => Ok(Bare::Boolean(true)),
                    (false, true) => Ok(Bare::Boolean(false)),
                    _ => Err(Malformed),
                }
            }
            b'@' => {
                self.takes(b'@');
                match self.number()? {
                    Bare::Integer(_) => Ok(Bare::Other(self.since(start))),
                    _ => Err(Malformed),
                }
            }
            b'%' => {
                self.takes(b'%');
                self.display_string()?;
                Ok(Bare::Other(self.since(start)))
            }
            first if first.is_ascii_alphabetic() || *first == b'*' => {
                Ok(Bare::Token(self.take_while(|byte| is_token_byte(byte) || matches!(byte, b':' | b'/'))))
            }
            _ => Err(Malformed),
        }
    }

    fn number(&mut self) -> Result<Bare<'a>, Malformed> {
        const MOST_DIGITS: usize = 15;
        const MOST_DIGITS_OF_DECIMAL: usize = 12;
        let start = self.0;
        let is_negative = self.takes(b'-');
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        if digits.is_empty() || digits.len() > MOST_DIGITS {
            return Err(Malformed);
        }
        if self.takes(b'.') {
            let fraction = self.take_while(|byte| byte.is_ascii_digit());
            let is_right = digits.len() <= MOST_DIGITS_OF_DECIMAL && (1..=3).contains(&fraction.len());
            return if is_right { Ok(Bare::Other(self.since(start))) } else { Err(Malformed) };
        }
        let number = digits.iter().fold(0, |number: i64, digit| {
            number.wrapping_mul(10).wrapping_add(i64::from(digit.wrapping_sub(b'0')))
        });
        Ok(Bare::Integer(if is_negative { -number } else { number }))
    }

    fn string(&mut self) -> Result<&'a [u8], Malformed> {
        self.takes(b'"');
        let start = self.0;
        loop {
            self.skip(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'));
            let text = self.since(start);
            if self.takes(b'"') {
                return Ok(text);
            }
            if !self.takes(b'\\') || !(self.takes(b'"') || self.takes(b'\\')) {
                return Err(Malformed);
            }
        }
    }

    fn display_string(&mut self) -> Result<(), Malformed> {
        if !self.takes(b'"') {
            return Err(Malformed);
        }
        self.skip(|byte| matches!(byte, b' '..=b'~') && byte != b'"');
        if self.takes(b'"') { Ok(()) } else { Err(Malformed) }
    }
}
