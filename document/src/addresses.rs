//! Addresses in a page: made absolute, and distinguished by their host.

use url::Url;

/// The base that addresses of a page are relative to.
#[derive(Debug)]
pub(crate) struct Addresses {
    page: Option<Url>,
    base: Option<Url>,
}

/// The name of a PDF file in its address.
pub(crate) fn pdf_name(address: &[u8]) -> Option<&[u8]> {
    let path = address.trim_ascii().split(|byte| matches!(byte, b'?' | b'#')).next()?;
    let name = path.rsplit(|byte| *byte == b'/').next()?;
    name.last_chunk().is_some_and(|end: &[u8; 4]| end.eq_ignore_ascii_case(b".pdf")).then_some(name)
}

impl Addresses {
    /// The addresses of a page, with what its `base` element says.
    pub(crate) fn new(page: Option<&str>, base: Option<&str>) -> Self {
        let page = page.and_then(|page| Url::parse(page).ok());
        let base = base.and_then(|base| match &page {
            Some(page) => page.join(base).ok(),
            None => Url::parse(base).ok(),
        });
        let base = base.filter(|base| !base.cannot_be_a_base()).or_else(|| page.clone());
        Self { page, base }
    }

    /// The address of the page.
    pub(crate) fn page(&self) -> Option<&Url> {
        self.page.as_ref()
    }

    /// An absolute address; a relative one stays as it is if nobody knows the page's. None if it leads nowhere: a script,
    /// data, another place in the page.
    pub(crate) fn resolve(&self, address: &str) -> Option<Address> {
        if address.starts_with('#') {
            return None;
        }
        let resolved = match &self.base {
            Some(base) => base.join(address),
            None => Url::parse(address),
        };
        match resolved {
            Ok(url) if leads_somewhere(&url) => {
                let host = self.page.as_ref().and_then(Url::host);
                Some(Address { is_internal: host.is_some() && host == url.host(), url: written(url) })
            }
            Err(url::ParseError::RelativeUrlWithoutBase) if self.base.is_none() => {
                Some(Address { is_internal: self.page.is_none(), url: address.into() })
            }
            Ok(_) | Err(_) => None,
        }
    }
}

/// An address that a page names.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) url: Box<str>,
    /// True if it has the page's host, as a relative address has even if the page's address is unknown.
    pub(crate) is_internal: bool,
}

/// An address without blanks, which those without a host may have.
fn written(url: Url) -> Box<str> {
    let url = String::from(url);
    if url.contains(char::is_whitespace) {
        url.split_whitespace().collect::<Vec<_>>().join("%20").into()
    } else {
        url.into()
    }
}

fn leads_somewhere(url: &Url) -> bool {
    let is_empty = url.cannot_be_a_base() && url.path().trim().is_empty();
    !is_empty && !matches!(url.scheme(), "javascript" | "data" | "blob" | "about" | "vbscript")
}

/// Returns true if a part of an address looks like a character reference.
fn has_reference(address: &str) -> bool {
    address.contains(';') && address.split('&').skip(1).any(begins_as_reference)
}

/// Returns true if what follows a `&` makes both look like a character reference.
fn begins_as_reference(after: &str) -> bool {
    const LONGEST: usize = 32;
    let after = after.strip_prefix('#').unwrap_or(after).as_bytes();
    let length = after.iter().take(LONGEST).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    length > 0 && after.get(length) == Some(&b';')
}

/// An address as the destination of a link in markdown.
pub(crate) fn destination(address: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"<>\\|`()".contains(&byte);
    if address.bytes().all(is_plain) && !has_reference(address) {
        return address.to_owned();
    }
    let mut out = String::with_capacity(address.len());
    let is_bracketed = address.contains(['(', ')']);
    if is_bracketed {
        out.push('<');
    }
    for (at, character) in address.char_indices() {
        match character {
            '&' if address.get(at + 1..).is_some_and(begins_as_reference) => out.push_str("&amp;"),
            '<' | '>' | '\\' | '|' | '`' => out.push_str(&format!("%{:02X}", u32::from(character))),
            c if c.is_whitespace() || c.is_control() => out.push_str("%20"),
            c => out.push(c),
        }
    }
    if is_bracketed {
        out.push('>');
    }
    out
}
