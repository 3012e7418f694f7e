//! Reading statements: `Content-Usage`, `Content-Signal` and `License`.

use alloc::format;
use alloc::string::String;
use core::str::FromStr;

use super::statement::{Preference, UsageStatement};
use super::vocabulary::CATEGORIES;
use crate::http::structured::{self, Bare, Entry, Item, Malformed, Member};
use crate::source::quoted::QuotedBytes;

/// The longest URL of a licence, in bytes.
pub(crate) const LONGEST_LICENSE: usize = 2048;

/// The statement of a dictionary (draft-ietf-aipref-vocab, 6.5): of each label the last member counts, and of it only a Token
/// `y` or `n`.
pub(crate) fn statement(value: &[u8]) -> Result<UsageStatement, Malformed> {
    structured::dictionary(value).map(|entries| of_entries(&entries))
}

pub(super) fn of_entries(entries: &[Entry<'_>]) -> UsageStatement {
    CATEGORIES.iter().enumerate().fold(UsageStatement::default(), |sum, (place, category)| {
        let entry = entries.iter().rfind(|entry| entry.key == category.label.as_bytes());
        let preference = entry.and_then(|entry| preference(&entry.member));
        preference.map_or(sum, |preference| sum.and(UsageStatement::about(place, preference)))
    })
}

/// The preference that a member states; `None` if it is neither of the two Tokens.
pub(crate) fn preference(member: &Member<'_>) -> Option<Preference> {
    match member {
        Member::Item(Item { value: Bare::Token(b"y"), .. }) => Some(Preference::Allowed),
        Member::Item(Item { value: Bare::Token(b"n"), .. }) => Some(Preference::Disallowed),
        _ => None,
    }
}

impl FromStr for UsageStatement {
    type Err = String;

    /// Reads a statement of somebody who can mend it: nothing in it may be without meaning.
    fn from_str(text: &str) -> Result<Self, String> {
        let entries = structured::dictionary(text.as_bytes())
            .map_err(|_| "expected a Dictionary (RFC 9651) such as `train-ai=n, search=y`")?;
        for entry in &entries {
            let shown = QuotedBytes(entry.key);
            let labels = CATEGORIES.each_ref().map(|category| category.label);
            if !labels.iter().any(|label| label.as_bytes() == entry.key) {
                return Err(format!("unknown label {shown}; the labels are {}", labels.join(", ")));
            }
            if preference(&entry.member).is_none() {
                return Err(format!("{shown} must be `y` or `n`"));
            }
        }
        Ok(of_entries(&entries))
    }
}

/// The path of a rule of robots.txt, if it has one, and its statement (draft-ietf-aipref-attach, 3.2). The value has no blanks
/// around it.
pub(crate) fn path_and_statement(value: &[u8]) -> (Option<&[u8]>, &[u8]) {
    if value.first() != Some(&b'/') {
        return (None, value);
    }
    let end = value.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(value.len());
    let (path, rest) = value.split_at_checked(end).unwrap_or((value, b""));
    (Some(path), structured::trimmed(rest))
}

/// The parts of a `Content-Signal`, each a name and a value; a part without `=` has no value.
pub(crate) fn signals(value: &[u8]) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
    value.split(|byte| *byte == b',').map(structured::trimmed).filter(|part| !part.is_empty()).map(|part| {
        match part.iter().position(|byte| *byte == b'=').and_then(|at| part.split_at_checked(at)) {
            Some((name, value)) => {
                (structured::trimmed(name), Some(structured::trimmed(value.get(1..).unwrap_or_default())))
            }
            None => (part, None),
        }
    })
}

/// The statement of a `Content-Signal`. What is omitted, or neither `yes` nor `no`, is unknown; of a name that comes again the
/// more restrictive value counts.
pub(crate) fn statement_of_signals(value: &[u8]) -> UsageStatement {
    signals(value).fold(UsageStatement::default(), |sum, (name, value)| {
        let place = CATEGORIES.iter().position(|category| category.signal.as_bytes() == name);
        let preference = match value {
            Some(b"yes") => Some(Preference::Allowed),
            Some(b"no") => Some(Preference::Disallowed),
            _ => None,
        };
        match (place, preference) {
            (Some(place), Some(preference)) => sum.and(UsageStatement::about(place, preference)),
            _ => sum,
        }
    })
}

/// The reason why a text is not the URL of a licence; `None`: it is.
pub(crate) fn objection_to_license(url: &[u8]) -> Option<&'static str> {
    let is_scheme = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
    };
    let rest = ["https://", "http://"].into_iter().find(|scheme| is_scheme(scheme));
    let rest = rest.and_then(|scheme| url.get(scheme.len()..));
    let is_permitted = |byte: &u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(byte);
    match rest {
        None => Some("not an absolute URL that begins with `https://` or `http://`"),
        Some([] | [b'/' | b'?' | b':' | b'#', ..]) => Some("the URL has no host"),
        Some(_) if !url.iter().all(is_permitted) => Some("a character in it must be percent-encoded"),
        Some(_) if url.len() > LONGEST_LICENSE => Some("the URL has more than 2048 bytes"),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn read(value: &str) -> String {
        statement(value.as_bytes()).map_or_else(|_| "malformed".into(), |statement| statement.to_string())
    }

    #[test]
    fn a_statement_for_a_person_says_all_that_it_means_in_two_notations() {
        let both: UsageStatement = "search=y, train-ai=n".parse().unwrap();
        assert_eq!(both.to_string(), "train-ai=n, search=y");
        assert_eq!(both.signals(), "ai-train=no, search=yes");
        assert_eq!(statement_of_signals(both.signals().as_bytes()), both);
        for (text, error) in [
            ("Search=y", "expected a Dictionary (RFC 9651) such as `train-ai=n, search=y`"),
            ("serch=y", "unknown label \"serch\"; the labels are train-ai, ai-use, search"),
            ("search=yes", "\"search\" must be `y` or `n`"),
        ] {
            assert_eq!(text.parse::<UsageStatement>(), Err(error.to_string()));
        }
    }

    /// USE-1, USE-2, USE-14: section 6 of the vocabulary, with the label that -08 adds.
    #[test]
    fn use_1_use_2_what_counts_in_a_dictionary() {
        for (value, expected) in [
            ("train-ai=y, search=n", "train-ai=y, search=n"),
            ("train-ai=y, train-ai, search=n, search=\"n\"", ""),
            ("train-ai;allow=n, train-ai=y", "train-ai=y"),
            ("train-ai;has;parameters=\"?\";", "malformed"),
            ("train-ai;has;parameters=\"?\"", ""),
            ("train-ai=n;a=1;b=?0, foo=y, bar=(a b)", "train-ai=n"),
            ("ai-use=n", "ai-use=n"),
            ("Train-AI=n", "malformed"),
            ("train-ai=n, SEARCH=y", "malformed"),
            ("train-ai=N", ""),
            ("train-ai=yes", ""),
            ("train-ai=?0", ""),
            ("train-ai=\"n\"", ""),
            ("train-ai=(n)", ""),
            ("train-ai=@1659578233", ""),
            ("train-ai=1, train-ai=n", "train-ai=n"),
            ("train-ai=n,", "malformed"),
            ("train-ai=n search=y", "malformed"),
            ("train-ai = n", "malformed"),
            ("train-ai=n, x=:A:", "malformed"),
            ("train-ai=n, x=\u{e9}", "malformed"),
            ("tdm=n, ai=n, genai=n, bots=n, train-genai=n, ai-output=n", ""),
            ("", ""),
        ] {
            assert_eq!(read(value), expected, "{value}");
        }
    }

    /// USE-5.
    #[test]
    fn use_5_a_path_ends_at_a_blank() {
        for (value, path, rest) in [
            ("train-ai=n", None, "train-ai=n"),
            ("/a train-ai=n", Some("/a"), "train-ai=n"),
            ("/a\t \ttrain-ai=n", Some("/a"), "train-ai=n"),
            ("/a", Some("/a"), ""),
            ("/", Some("/"), ""),
            ("*/a train-ai=n", None, "*/a train-ai=n"),
            ("", None, ""),
        ] {
            let expected = (path.map(str::as_bytes), rest.as_bytes());
            assert_eq!(path_and_statement(value.as_bytes()), expected, "{value}");
        }
    }

    /// USE-9.
    #[test]
    fn use_9_signals_keep_their_own_words() {
        for (value, expected) in [
            ("search=yes, ai-input=no, ai-train=no, use=reference", "train-ai=n, ai-use=n, search=y"),
            ("search=yes,ai-train=no,use=full", "train-ai=n, search=y"),
            ("ai-train = no ,\tsearch= yes", "train-ai=n, search=y"),
            ("ai-train=yes, ai-train=no", "train-ai=n"),
            ("ai-train=no, ai-train=yes", "train-ai=n"),
            ("use=immediate", ""),
            ("ai-train=n, search=Y, AI-INPUT=no, train-ai=no", ""),
            ("ai-train, =no, , search=", ""),
            ("ai-train=no;search=yes", ""),
            ("", ""),
        ] {
            assert_eq!(statement_of_signals(value.as_bytes()).to_string(), expected, "{value}");
        }
    }

    /// USE-10.
    #[test]
    fn use_10_a_license_has_an_absolute_url() {
        for url in
            ["https://example.com/license.xml", "HTTP://other.example/a?b=c", "https://[2001:db8::1]/l"]
        {
            assert_eq!(objection_to_license(url.as_bytes()), None, "{url}");
        }
        let long = alloc::format!("https://a.example/{}", "x".repeat(LONGEST_LICENSE));
        assert_eq!(objection_to_license(&long.as_bytes()[..LONGEST_LICENSE]), None);
        for url in [
            "",
            "/license.xml",
            "license.xml",
            "https://",
            "https:///a",
            "ftp://a/b",
            "https://a/b c",
            "https://a/>",
            "https://a/\u{e9}",
            "https://a/\r\nSet-Cookie:x",
            &long,
        ] {
            assert!(objection_to_license(url.as_bytes()).is_some(), "{url}");
        }
    }

    #[test]
    fn a_value_of_64_kib_is_read() {
        let long = alloc::format!("x=\"{}\", train-ai=n", "x".repeat(64 << 10));
        assert_eq!(read(&long), "train-ai=n");
        let many: String = (0..8000).map(|number| alloc::format!("k{number}=y, ")).collect();
        assert_eq!(read(&(many + "search=n")), "search=n");
    }
}
