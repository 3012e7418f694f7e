//! The User-Agent that servers see.

use std::str::FromStr;

/// The product and its version.
const PRODUCT: &str = concat!("Crawlpike/", env!("CARGO_PKG_VERSION"));

/// The longest contact, in bytes.
const LONGEST: usize = 200;

/// A way to reach the operator of the program: a URL, or an email address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contact(String);

impl FromStr for Contact {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The bytes that a comment of a User-Agent can hold as they are.
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"()\\\"".contains(&byte);
        if text.is_empty() || text.len() > LONGEST || !text.bytes().all(is_plain) {
            return Err(format!(
                "expected a URL or an email address of at most {LONGEST} ASCII characters without spaces and parentheses"
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

impl Contact {
    /// The User-Agent of the program itself.
    pub(crate) fn crawlpike(contact: Option<&Self>) -> String {
        match contact {
            Some(contact) => format!("{PRODUCT} ({})", contact.shown()),
            None => PRODUCT.to_owned(),
        }
    }

    /// The User-Agent of AIWebIndex, for a check of ownership or for a page (AIWI-1, AIWI-2).
    pub(crate) fn aiwebindex(contact: Option<&Self>, is_verification: bool) -> String {
        let verification = if is_verification { " verification" } else { "" };
        let contact = contact.map(|contact| format!("{}; ", contact.shown())).unwrap_or_default();
        format!("AIWebIndex/2.0{verification} ({contact}{PRODUCT})")
    }

    /// With a `+` before a URL, as crawlers write it.
    fn shown(&self) -> String {
        let Self(text) = self;
        let is_url = text.starts_with("https://") || text.starts_with("http://");
        if is_url { format!("+{text}") } else { text.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_agent_has_the_product_and_the_contact() {
        let shown = |text: &str| Contact::crawlpike(Some(&text.parse().unwrap()));
        let product = format!("Crawlpike/{}", env!("CARGO_PKG_VERSION"));
        assert_eq!(Contact::crawlpike(None), product);
        assert_eq!(shown("https://example.com/bot"), format!("{product} (+https://example.com/bot)"));
        assert_eq!(shown("ops@example.com"), format!("{product} (ops@example.com)"));
        for wrong in ["", "a b", "a)(", "é", "a\r\nX: y", &"a".repeat(201)] {
            assert!(wrong.parse::<Contact>().is_err(), "{wrong:?}");
        }
    }
}
