//! The lines of robots.txt and automation-preferences.txt: RFC 9309, 2.2; autoctl-core-01, 4; "Lines" in
//! docs/robots-and-preferences.md.

/// A line `name: value`, with its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'t> {
    pub(crate) number: u32,
    /// Without blanks around it; empty in a line without a colon.
    pub(crate) name: &'t [u8],
    pub(crate) value: &'t [u8],
    /// The length of the whole line.
    pub(crate) length: usize,
    /// Nothing but blanks.
    pub(crate) is_blank: bool,
}

impl Line<'_> {
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }
}

/// All lines. Without a colon, a name of these and exactly one word are a line, too.
pub(crate) fn lines<'t>(text: &'t [u8], without_colon: &[&str]) -> Vec<Line<'t>> {
    // "A byte order mark at the start is skipped, and so is an incomplete one."
    let mut text = text;
    for octet in b"\xEF\xBB\xBF" {
        match text.strip_prefix(&[*octet]) {
            Some(rest) => text = rest,
            None => break,
        }
    }
    let mut found = Vec::new();
    let mut number = 0;
    while !text.is_empty() {
        let end = text.iter().position(|octet| *octet == b'\r' || *octet == b'\n').unwrap_or(text.len());
        let (line, rest) = text.split_at(end);
        text = rest.strip_prefix(b"\r\n").or(rest.get(1..)).unwrap_or_default();
        number += 1;
        let said = trim(line.split(|octet| *octet == b'#').next().unwrap_or_default());
        let parts = match said.iter().position(|octet| *octet == b':') {
            Some(colon) => Some((trim(&said[..colon]), trim(&said[colon + 1..]))),
            None => {
                said.iter().position(is_blank).map(|blank| (&said[..blank], trim(&said[blank..]))).filter(
                    |(name, value)| {
                        let is_known =
                            without_colon.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
                        is_known && !value.iter().any(is_blank)
                    },
                )
            }
        };
        let (name, value) = parts.unwrap_or_default();
        found.push(Line { number, name, value, length: line.len(), is_blank: trim(line).is_empty() });
    }
    found
}

fn is_blank(octet: &u8) -> bool {
    *octet == b' ' || *octet == b'\t'
}

pub(crate) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

/// The product token at the start of a value: RFC 9309, 2.2.1, with digits, which deployed tokens have; `*` is all agents.
pub(crate) fn product_token(value: &[u8]) -> Option<String> {
    if value.first() == Some(&b'*') {
        return Some("*".into());
    }
    let is_part = |octet: &&u8| octet.is_ascii_alphanumeric() || **octet == b'-' || **octet == b'_';
    let token: Vec<u8> = value.iter().take_while(is_part).copied().collect();
    String::from_utf8(token).ok().filter(|token| !token.is_empty())
}
