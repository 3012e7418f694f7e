//! Which media type a client prefers, by its `Accept` header (RFC 9110 12.5.1).

use alloc::vec::Vec;
use core::cmp::Reverse;

use memchr::memchr2;

/// The weight that a client gives a media type; the greater, the more it is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Preference {
    /// The weight in thousandths; 0: not wanted.
    pub weight: u16,
    /// The precision with which the client named it. Of two types with one weight it prefers the one that it named.
    pub precision: Precision,
    /// The place of its range in the list. Of two types that it named with one weight it prefers the one that it named first.
    pub place: Reverse<usize>,
}

/// The range of media types that the client named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precision {
    /// `*/*`, or no header at all.
    Any,
    /// `text/*`.
    Type,
    /// `text/html`, whatever parameters follow.
    Exact,
}

impl Preference {
    /// The weight that the header's value gives a media type, such as `text/html`. A client without the header takes
    /// anything.
    ///
    /// The most precise range that covers the type counts, of equally precise ones the one with the greatest weight. A
    /// member that can't be read says nothing.
    pub(crate) fn of(media_type: &str, accept: Option<&[u8]>) -> Self {
        let nothing = Self { weight: 0, precision: Precision::Any, place: Reverse(0) };
        let Some(accept) = accept else {
            return Self { weight: MOST, ..nothing };
        };
        let members = Parts::new(accept, b',').enumerate();
        let said = members.filter_map(|(place, member)| Self::said(member, media_type, place));
        said.max_by_key(|said| (said.precision, said.weight, said.place)).unwrap_or(nothing)
    }

    /// The weight that one member of the list gives a media type.
    fn said(member: &[u8], media_type: &str, place: usize) -> Option<Self> {
        let mut parts = Parts::new(member, b';');
        let range = parts.next()?;
        let precision = match range.strip_suffix(b"/*") {
            Some(b"*") => Precision::Any,
            Some(kind) => {
                let (own, _) = media_type.split_once('/')?;
                own.as_bytes().eq_ignore_ascii_case(kind).then_some(Precision::Type)?
            }
            None => media_type.as_bytes().eq_ignore_ascii_case(range).then_some(Precision::Exact)?,
        };
        let weight = parts.find_map(|parameter| {
            let [b'q' | b'Q', b'=', value @ ..] = parameter else { return None };
            Some(weight(value))
        });
        Some(Self { weight: weight.unwrap_or(Some(MOST))?, precision, place: Reverse(place) })
    }
}

/// The weight of what has none.
const MOST: u16 = 1000;

/// A `qvalue`, in thousandths.
fn weight(value: &[u8]) -> Option<u16> {
    let (whole, digits) = match value {
        [whole @ (b'0' | b'1')] => (whole, &[][..]),
        [whole @ (b'0' | b'1'), b'.', digits @ ..] => (whole, digits),
        _ => return None,
    };
    let mut thousandths = u16::from(whole - b'0') * MOST;
    let mut place = 100;
    for digit in digits {
        // A fourth digit makes the place 0: it is none of a qvalue.
        let is_digit = digit.is_ascii_digit() && place > 0;
        thousandths += is_digit.then(|| u16::from(digit - b'0') * place)?;
        place /= 10;
    }
    (thousandths <= MOST).then_some(thousandths)
}

/// The members of a list whose names, such as `text/html` or `gzip`, are to stay, as one value.
pub(crate) fn members_that_stay(list: &[u8], stays: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let name = |member| Parts::new(member, b';').next().unwrap_or_default();
    let members = Parts::new(list, b',').filter(|member| !member.is_empty() && stays(name(member)));
    members.collect::<Vec<&[u8]>>().join(&b", "[..])
}

/// The parts between separators, except those in quoted strings, without white space around.
struct Parts<'a> {
    rest: Option<&'a [u8]>,
    separator: u8,
}

impl<'a> Parts<'a> {
    fn new(text: &'a [u8], separator: u8) -> Self {
        Self { rest: Some(text), separator }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let text = self.rest.take()?;
        let mut from = 0;
        while let Some(found) = memchr2(self.separator, b'"', text.get(from..)?) {
            let at = from + found;
            if text.get(at) == Some(&self.separator) {
                self.rest = text.get(at + 1..);
                return text.get(..at).map(<[u8]>::trim_ascii);
            }
            from = after_quoted(text, at + 1);
        }
        Some(text.trim_ascii())
    }
}

/// The place behind the quote that ends a quoted string; it ends with the text where there is none.
fn after_quoted(text: &[u8], mut at: usize) -> usize {
    while let Some(found) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if text.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(media_type: &str, accept: &str) -> (u16, Precision) {
        let Preference { weight, precision, .. } = Preference::of(media_type, Some(accept.as_bytes()));
        (weight, precision)
    }

    #[test]
    fn the_most_precise_range_counts() {
        let accept = "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, */*;q=0.5";
        assert_eq!(of("text/plain", accept), (1000, Precision::Exact));
        assert_eq!(of("text/html", accept), (300, Precision::Type));
        assert_eq!(of("image/jpeg", accept), (500, Precision::Any));
        assert_eq!(of("TEXT/HTML", "Text/Html ; Q=0.25"), (250, Precision::Exact));
        assert_eq!(of("text/html", "application/json"), (0, Precision::Any));
        assert_eq!(of("text/html", "text/html;q=0, */*"), (0, Precision::Exact));
        assert_eq!(of("text/html", ""), (0, Precision::Any));
        assert_eq!(Preference::of("text/html", None).weight, 1000);
    }

    #[test]
    fn of_equal_weights_the_named_type_is_preferred() {
        let accept = Some(&b"application/json, */*"[..]);
        assert!(Preference::of("application/json", accept) > Preference::of("text/plain", accept));
    }

    #[test]
    fn of_equal_weights_the_type_that_is_named_first_is_preferred() {
        for (accept, json_first) in [
            ("application/json, text/plain", true),
            ("text/plain, application/json", false),
            ("text/plain;q=0.9, application/json;q=0.9, application/json;q=0.1", false),
            ("application/json;q=0.9, text/plain", false),
            ("*/*", false),
        ] {
            let of = |media_type| Preference::of(media_type, Some(accept.as_bytes()));
            assert_eq!(of("application/json") > of("text/plain"), json_first, "{accept}");
        }
    }

    #[test]
    fn weights_are_those_of_the_rfc() {
        for (text, expected) in
            [("0", 0), ("1", 1000), ("0.", 0), ("0.5", 500), ("0.001", 1), ("1.000", 1000)]
        {
            assert_eq!(weight(text.as_bytes()), Some(expected), "{text}");
        }
        for text in ["", "2", "1.001", "0.0001", "0.1234", "-1", "0:5", "0.x", ".5", "00", "1.0000"] {
            assert_eq!(weight(text.as_bytes()), None, "{text}");
            let accept = alloc::format!("text/html;q={text}, text/*;q=0.1");
            assert_eq!(of("text/html", &accept), (100, Precision::Type), "{accept}");
        }
    }

    #[test]
    fn what_is_quoted_separates_nothing() {
        let accept = r#"text/html;x="a, text/plain;q=0.1 \" , ";q=0.4, text/plain;y="open, application/json"#;
        assert_eq!(of("text/html", accept), (400, Precision::Exact));
        assert_eq!(of("text/plain", accept), (1000, Precision::Exact));
        assert_eq!(of("application/json", accept), (0, Precision::Any));
        assert_eq!(of("text/html", r#"text/html;x="\"#), (1000, Precision::Exact));
        assert_eq!(of("text/html", r#"text/html;x=""#), (1000, Precision::Exact));
    }
}
