//! Signature Agent Cards: what agents that sign their requests say of themselves (draft-meunier-webbotauth-registry), for those
//! who import an agent from its card. The gates never read one.
//!
//! A card proves nothing. It says where the keys and the ranges of an agent are, and only those can verify it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use crate::json::slices::{self, Members, SyntaxError};
use crate::keys::identifier::{Identifier, Reference};
use crate::source::diagnostic::{Diagnostic, Diagnostics, Load};
use crate::source::position::{Locator, Position};
use crate::source::quoted::Quoted;
use crate::source::text::{self, Expected};
use crate::user_agent::check_token;

/// The most bytes that a card may have.
const MOST_BYTES: usize = 64 << 10;

/// The most levels of nesting.
const DEEPEST: usize = 16;

/// The members that count. Older drafts have those of `web_bot_auth` beside it.
const OF_CLIENT: [&str; 5] = ["client_id", "client_name", "jwks_uri", "jwks", "web_bot_auth"];
const OF_AGENT: [&str; 3] = ["rfc9309-product-token", "purpose", "ips_uri"];

/// The statement of a card about an agent, as far as a configuration can use it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentCard {
    /// The URL at which the card is published.
    pub client_id: Option<String>,
    /// The text that claims the agent in a User-Agent; if the card does not say, its name, if that can be a token.
    pub token: Option<String>,
    /// The purpose for which the agent fetches, if that is one word.
    pub purpose: Option<String>,
    /// The directory of the agent's keys.
    pub jwks_uri: Option<String>,
    /// The agent's IP ranges.
    pub ips_uri: Option<String>,
}

impl AgentCard {
    /// Reads a card. `None` if it can't be used; the diagnostics say why, and what of it is ignored.
    pub fn read(name: impl Into<String>, bytes: &[u8]) -> (Option<Self>, Vec<Diagnostic>) {
        let mut diagnostics = Diagnostics::new(name, Load);
        let card = read(bytes, &mut diagnostics).filter(|_| !diagnostics.has_errors());
        (card, diagnostics.into_items_by_position())
    }
}

fn read(bytes: &[u8], diagnostics: &mut Diagnostics) -> Option<AgentCard> {
    if bytes.len() > MOST_BYTES {
        diagnostics.error(
            None,
            None,
            format!("the card has {} bytes; the limit is {MOST_BYTES}", bytes.len()),
        );
        return None;
    }
    let text = text::read(bytes, Expected { what: "JSON", requirement: None }, diagnostics)?;
    let mut reader = Reader { locator: Locator::new(bytes), diagnostics };
    let document = match slices::document(text) {
        Ok(document) => document,
        Err(SyntaxError { offset, message }) => {
            let position = reader.locator.position(offset);
            reader.diagnostics.error(position, None, message);
            return None;
        }
    };
    if let Some(offset) = slices::nested_deeper_than(text, DEEPEST) {
        let position = reader.locator.position(offset);
        reader.diagnostics.error(position, None, format!("nested deeper than {DEEPEST} levels"));
        return None;
    }
    let [client_id, client_name, jwks_uri, jwks, extension] =
        reader.members(document, "the card", &OF_CLIENT)?;
    let older = reader.members(document, "the card", &OF_AGENT)?;
    let newer = match extension {
        Some(extension) => reader.members(extension, "`web_bot_auth`", &OF_AGENT)?,
        None => [None; 3],
    };
    let mut of_agent = newer.into_iter().zip(older).map(|(newer, older)| newer.or(older));
    let [token, purpose, ips_uri] = [of_agent.next()?, of_agent.next()?, of_agent.next()?];
    match (jwks, jwks_uri) {
        (Some(jwks), Some(_)) => reader.error(jwks, "`jwks` and `jwks_uri` exclude each other"),
        (Some(jwks), None) => reader.warning(
            jwks,
            "`jwks` is ignored: keys count only together with the directory that publishes them, in `jwks_uri`",
        ),
        (None, _) => {}
    }
    let card = AgentCard {
        client_id: reader.url(client_id, "client_id"),
        token: reader.token(token, client_name),
        purpose: reader.purpose(purpose),
        jwks_uri: reader.url(jwks_uri, "jwks_uri"),
        ips_uri: reader.url(ips_uri, "ips_uri"),
    };
    if jwks_uri.is_none() && ips_uri.is_none() {
        let message = "the card has neither `jwks_uri` nor `ips_uri`, so nothing can verify the agent";
        reader.diagnostics.warning(None, None, message);
    }
    Some(card)
}

struct Reader<'a, 'd> {
    locator: Locator<'a>,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Reader<'a, '_> {
    fn at(&mut self, raw: &'a RawValue) -> Option<Position> {
        self.locator.position_of(raw.get().as_bytes())
    }

    fn error(&mut self, raw: &'a RawValue, message: &str) {
        let position = self.at(raw);
        self.diagnostics.error(position, None, message);
    }

    fn warning(&mut self, raw: &'a RawValue, message: &str) {
        let position = self.at(raw);
        self.diagnostics.warning(position, None, message);
    }

    /// The members of an object; `None` after an error if it is none.
    fn members<const N: usize>(
        &mut self,
        object: &'a RawValue,
        what: &str,
        names: &[&str; N],
    ) -> Option<[Option<&'a RawValue>; N]> {
        let Some(Members { values, repeated, .. }) = slices::members(object, names) else {
            self.error(object, &format!("{what} must be an object"));
            return None;
        };
        for (name, again) in names.iter().zip(repeated) {
            if let Some(again) = again {
                self.error(again, &format!("duplicate key `{name}`"));
            }
        }
        Some(values)
    }

    fn text(&mut self, raw: Option<&'a RawValue>, name: &str) -> Option<String> {
        let raw = raw?;
        let text = slices::string(raw).map(String::from);
        if text.is_none() {
            self.error(raw, &format!("`{name}` must be a string"));
        }
        text
    }

    fn url(&mut self, raw: Option<&'a RawValue>, name: &str) -> Option<String> {
        let url = self.text(raw, name)?;
        // An origin alone would stand for its well-known directory in a configuration, and not for itself.
        let has_path = url.splitn(4, '/').nth(3).is_some_and(|path| !path.is_empty());
        let is_right = has_path && Identifier::of(url.as_bytes(), Reference::KeySet).is_some();
        if is_right {
            return Some(url);
        }
        let message =
            format!("`{name}` is {}, not the URL of a file: `https`, a host and a path", Quoted(&url));
        raw.into_iter().for_each(|raw| self.error(raw, &message));
        None
    }

    fn token(&mut self, token: Option<&'a RawValue>, client_name: Option<&'a RawValue>) -> Option<String> {
        let name = self.text(client_name, "client_name");
        let Some(raw) = token else { return name.filter(|name| check_token(name).is_ok()) };
        let token = self.text(token, "rfc9309-product-token")?;
        if let Err(why) = check_token(&token) {
            self.error(raw, &format!("{} is not a valid agent token: {why}", Quoted(&token)));
        }
        Some(token)
    }

    fn purpose(&mut self, raw: Option<&'a RawValue>) -> Option<String> {
        let purpose = self.text(raw, "purpose")?;
        let is_word = (1..=MOST_BYTES_OF_PURPOSE).contains(&purpose.len())
            && purpose.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if is_word {
            return Some(purpose);
        }
        let message = format!("the purpose {} is ignored: it must be a single word", Quoted(&purpose));
        raw.into_iter().for_each(|raw| self.warning(raw, &message));
        None
    }
}

/// The most bytes of a purpose.
const MOST_BYTES_OF_PURPOSE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn read(card: &str) -> (Option<AgentCard>, Vec<String>) {
        let (card, diagnostics) = AgentCard::read("c", card.as_bytes());
        (card, diagnostics.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_card_of_the_draft_is_read() {
        let (card, messages) = read(
            r#"{ "client_id": "https://example.com/bot", "client_name": "Example Bot", "contacts": ["mailto:a@example.com"],
                "jwks_uri": "https://example.com/.well-known/http-message-signatures-directory",
                "web_bot_auth": { "expected-user-agent": "Mozilla/5.0 ExampleBot", "rfc9309-product-token": "ExampleBot",
                    "rfc9309-compliance": false, "trigger": "fetcher", "purpose": "search", "known-urls": ["/", "*.png"],
                    "ips_uri": "https://example.com/ips.json" } }"#,
        );
        assert!(messages.is_empty(), "{messages:?}");
        let expected = AgentCard {
            client_id: Some("https://example.com/bot".into()),
            token: Some("ExampleBot".into()),
            purpose: Some("search".into()),
            jwks_uri: Some("https://example.com/.well-known/http-message-signatures-directory".into()),
            ips_uri: Some("https://example.com/ips.json".into()),
        };
        assert_eq!(card, Some(expected));
    }

    #[test]
    fn older_cards_have_all_members_at_the_top() {
        let (card, messages) =
            read(r#"{"rfc9309-product-token":"A","purpose":"tdm","ips_uri":"https://a.test/i"}"#);
        let card = card.unwrap();
        assert!(messages.is_empty(), "{messages:?}");
        assert_eq!((card.token.as_deref(), card.purpose.as_deref()), (Some("A"), Some("tdm")));
        let (card, _) = read(r#"{"client_name":"B","purpose":"x","web_bot_auth":{"purpose":"y"}}"#);
        let card = card.unwrap();
        assert_eq!((card.token.as_deref(), card.purpose.as_deref()), (Some("B"), Some("y")));
        assert_eq!(read(r#"{"client_name":"\u00e9"}"#).0.unwrap().token, None, "a name need not be a token");
    }

    #[test]
    fn what_is_no_card_is_refused_with_its_place() {
        let deep = format!("{}{}", "[".repeat(20), "]".repeat(20));
        let long = format!(r#"{{"a":"{}"}}"#, "a".repeat(MOST_BYTES));
        for (card, message) in [
            ("", "c:1:1: error: not JSON: EOF while parsing a value: was the file cut off?"),
            ("{\n\"jwks_uri\": x}", "c:2:13: error: not JSON: expected value"),
            ("<html>", "c: error: this is HTML, not JSON"),
            ("[]", "c:1:1: error: the card must be an object"),
            (&deep, "c:1:17: error: nested deeper than 16 levels"),
            (&long, "c: error: the card has 65544 bytes; the limit is 65536"),
            (r#"{"web_bot_auth":[]}"#, "c:1:17: error: `web_bot_auth` must be an object"),
            (r#"{"client_id":7}"#, "c:1:14: error: `client_id` must be a string"),
            (r#"{"client_name":"A","client_name":"B"}"#, "c:1:34: error: duplicate key `client_name`"),
            (r#"{"purpose":"a","purpose":"b"}"#, "c:1:26: error: duplicate key `purpose`"),
            (
                r#"{"jwks_uri":"http://a.test/k"}"#,
                r#"c:1:13: error: `jwks_uri` is "http://a.test/k", not the URL"#,
            ),
            (r#"{"jwks_uri":"https://a.test"}"#, "not the URL of a file"),
            (r#"{"jwks_uri":"https://a.test/"}"#, "not the URL of a file"),
            (r#"{"jwks_uri":"https://u@a.test/k"}"#, "not the URL of a file"),
            (r#"{"ips_uri":"file:///etc/passwd"}"#, "not the URL of a file"),
            (
                r#"{"jwks":{"keys":[]},"jwks_uri":"https://a.test/k"}"#,
                "c:1:9: error: `jwks` and `jwks_uri` exclude",
            ),
            (
                r#"{"rfc9309-product-token":"a\u0000b"}"#,
                r#"c:1:26: error: "a\0b" is not a valid agent token: '\0' is not allowed"#,
            ),
            (r#"{"rfc9309-product-token":"\ud800"}"#, "`rfc9309-product-token` must be a string"),
        ] {
            let (read, messages) = read(card);
            assert_eq!(read, None, "{card}");
            assert!(messages.iter().any(|own| own.contains(message)), "{card}: {messages:?}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_ignored_with_a_warning() {
        for (card, message) in [
            (
                "{}",
                "c: warning: the card has neither `jwks_uri` nor `ips_uri`, so nothing can verify the agent",
            ),
            (r#"{"jwks":{"keys":[]}}"#, "c:1:9: warning: `jwks` is ignored: keys count only together with"),
            (r#"{"purpose":"cat pictures"}"#, r#"c:1:12: warning: the purpose "cat pictures" is ignored"#),
        ] {
            let (read, messages) = read(card);
            assert!(read.is_some_and(|card| card.purpose.is_none()), "{card}");
            assert!(messages.iter().any(|own| own.contains(message)), "{card}: {messages:?}");
        }
    }
}
