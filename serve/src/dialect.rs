//! The dialects of forward-auth: where a proxy puts the parts of the request that it asks about.

use std::net::IpAddr;

use crawlpike_core::Scheme;

use crate::trust::{self, Trust};
use crate::unclear::Unclear;

/// The header lines of a question, with names in lower case.
pub type Lines<'q> = [(&'q str, &'q [u8])];

/// A question as it came: the line of its request and its headers.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The method.
    pub method: &'q [u8],
    /// The path and query.
    pub target: &'q [u8],
    /// The headers.
    pub headers: &'q Lines<'q>,
}

/// The parts of the request that a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'q> {
    /// The client's address.
    pub address: IpAddr,
    /// The scheme by which the client reached the proxy, if it is known.
    pub scheme: Option<Scheme>,
    /// The host and port; empty if the client sent none.
    pub authority: &'q [u8],
    /// The method.
    pub method: &'q [u8],
    /// The path and query; empty for CONNECT.
    pub target: &'q [u8],
}

/// The place of a part. There is one for each part of a dialect: a proxy passes most headers of its client on, so a second one could be
/// the client's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Header(&'static str),
    /// The line of the question, or its Host.
    Own,
}

/// A dialect: its name, and where it has each part.
#[derive(Debug)]
pub struct Dialect {
    /// Its name, which is also the first part of the path that chooses it.
    pub name: &'static str,
    method: Place,
    host: Place,
    target: Place,
    /// A header with the URL, which can be there in place of host and target.
    url: Option<&'static str>,
    /// The header with the client's address, if it is not [`FORWARDED_FOR`].
    address: Option<&'static str>,
    /// The start of the User-Agent that the proxy sends unless it is configured to forward the client's.
    own_agent: Option<&'static str>,
    /// True if the proxy relays nothing of a denial but its status, and that only if it is 401 or 403.
    pub relays_status_only: bool,
    /// True if the proxy removes the headers from the request that the answer lists.
    pub removes_headers: bool,
}

const FORWARDED_FOR: &str = "x-forwarded-for";

const FORWARDED: Dialect = Dialect {
    name: "",
    method: Place::Header("x-forwarded-method"),
    host: Place::Header("x-forwarded-host"),
    target: Place::Header("x-forwarded-uri"),
    url: None,
    address: None,
    own_agent: None,
    relays_status_only: false,
    removes_headers: false,
};

const TRAEFIK: &Dialect = &Dialect { name: "traefik", ..FORWARDED };

const NGINX: &Dialect = &Dialect {
    name: "nginx",
    method: Place::Header("x-original-method"),
    host: Place::Own,
    target: Place::Header("x-original-uri"),
    url: Some("x-original-url"),
    address: Some("x-real-ip"),
    relays_status_only: true,
    ..FORWARDED
};

const LUA: Dialect = Dialect { own_agent: Some("lua-resty-http/"), ..FORWARDED };

/// Every dialect.
pub const DIALECTS: [&Dialect; 7] = [
    TRAEFIK,
    &Dialect { name: "caddy", ..FORWARDED },
    NGINX,
    &Dialect {
        name: "envoy",
        method: Place::Own,
        host: Place::Own,
        target: Place::Own,
        removes_headers: true,
        ..FORWARDED
    },
    &Dialect { name: "haproxy", ..FORWARDED },
    &Dialect { name: "kong", ..LUA },
    &Dialect { name: "apisix", ..LUA },
];

/// The dialect of a name.
///
/// # Errors
///
/// It is unknown.
pub fn dialect(name: &str) -> Result<&'static Dialect, String> {
    let found = DIALECTS.into_iter().find(|dialect| dialect.name == name);
    found.ok_or_else(|| format!("expected one of {}", DIALECTS.map(|dialect| dialect.name).join(", ")))
}

impl<'q> Question<'q> {
    /// The parts of the request that it is about, by the dialect that is configured, or that the path names, or that the headers
    /// show.
    pub fn parts(
        mut self,
        configured: Option<&'static Dialect>,
        trust: &Trust,
    ) -> Result<(&'static Dialect, Parts<'q>), Unclear> {
        let dialect = match configured.or_else(|| self.take_dialect()) {
            Some(dialect) => dialect,
            None => self.dialect_by_headers()?,
        };
        Ok((dialect, dialect.parts(&self, trust)?))
    }

    fn lines(&self, name: &str) -> impl DoubleEndedIterator<Item = &'q [u8]> {
        self.headers.iter().filter(move |(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// The value of a header that may be there once.
    fn value(&self, name: &'static str) -> Result<Option<&'q [u8]>, Unclear> {
        let mut lines = self.lines(name);
        match (lines.next(), lines.next()) {
            (_, Some(_)) => Err(Unclear::Contradictory(name)),
            (value, None) => Ok(value.filter(|value| !value.is_empty())),
        }
    }

    fn required(&self, name: &'static str) -> Result<&'q [u8], Unclear> {
        self.value(name)?.ok_or(Unclear::Missing(name))
    }

    /// The part at a place; `own` is that of the question.
    fn part(&self, place: Place, own: &'q [u8]) -> Result<&'q [u8], Unclear> {
        match place {
            Place::Header(name) => self.required(name),
            Place::Own => Ok(own),
        }
    }

    /// The host at a place. One that is empty is that of a client which sent none, such as a health check by HTTP/1.0; nginx leaves
    /// it out. A proxy that does not send the header at all is not configured to.
    fn host(&self, place: Place) -> Result<&'q [u8], Unclear> {
        let name = place.header().unwrap_or("host");
        let host = self.value(name)?.unwrap_or_default();
        match place {
            Place::Header(name) if self.lines(name).next().is_none() => Err(Unclear::Missing(name)),
            _ => Ok(host),
        }
    }

    /// The dialect that the first part of the path names. The rest is the path that Envoy asks about.
    fn take_dialect(&mut self) -> Option<&'static Dialect> {
        let path = self.target.strip_prefix(b"/")?;
        let end = path.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(path.len());
        let (name, rest) = path.split_at_checked(end)?;
        let dialect = DIALECTS.into_iter().find(|dialect| dialect.name.as_bytes() == name)?;
        self.target = rest;
        Some(dialect)
    }

    /// The only dialect of which a header is there. Those with the headers of Traefik are read in one way.
    fn dialect_by_headers(&self) -> Result<&'static Dialect, Unclear> {
        let has = |place| matches!(place, Place::Header(name) if self.lines(name).next().is_some());
        let shows = |dialect: &Dialect| {
            has(dialect.method) || has(dialect.target) || dialect.url.map(Place::Header).is_some_and(has)
        };
        match (shows(TRAEFIK), shows(NGINX)) {
            (true, false) => Ok(TRAEFIK),
            (false, true) => Ok(NGINX),
            _ => Err(Unclear::Dialect),
        }
    }
}

impl Dialect {
    fn parts<'q>(&self, question: &Question<'q>, trust: &Trust) -> Result<Parts<'q>, Unclear> {
        self.check_agent(question)?;
        let said = question.value("x-forwarded-proto").ok().flatten().and_then(scheme);
        let url = self.url.map(|name| Ok((name, question.value(name)?))).transpose()?;
        let (scheme, authority, target) = match url {
            Some((name, Some(url))) => {
                let other = self.target.header().and_then(|target| question.lines(target).next());
                if other.is_some() {
                    return Err(Unclear::Contradictory(name));
                }
                split(url).ok_or(Unclear::Unreadable(name))?
            }
            _ => (said, question.host(self.host)?, question.part(self.target, question.target)?),
        };
        let method = question.part(self.method, question.method)?;
        let target = match target {
            _ if method == b"CONNECT" => b"",
            // `http://shop.test?a` has no path.
            [] | [b'/' | b'?', ..] | b"*" => target,
            _ => return Err(Unclear::Unreadable(self.target.header().unwrap_or("the path"))),
        };
        Ok(Parts { address: self.address(question, trust)?, scheme, authority, method, target })
    }

    fn address(&self, question: &Question<'_>, trust: &Trust) -> Result<IpAddr, Unclear> {
        match self.address {
            Some(name) => trust::address(question.required(name)?).ok_or(Unclear::Unreadable(name)),
            None => {
                let client = trust.client(question.lines(FORWARDED_FOR))?;
                client.ok_or(Unclear::Missing(FORWARDED_FOR))
            }
        }
    }

    /// If the User-Agent is not forwarded, people would be taken for the library by which the proxy asks.
    fn check_agent(&self, question: &Question<'_>) -> Result<(), Unclear> {
        let is_own = |agent: &[u8]| self.own_agent.is_some_and(|own| agent.starts_with(own.as_bytes()));
        match question.lines("user-agent").any(is_own) {
            true => Err(Unclear::Missing("user-agent")),
            false => Ok(()),
        }
    }
}

impl Place {
    const fn header(self) -> Option<&'static str> {
        match self {
            Self::Header(name) => Some(name),
            Self::Own => None,
        }
    }
}

/// A word for a scheme: proxies also write that of WebSockets.
pub(crate) fn scheme(word: &[u8]) -> Option<Scheme> {
    match word.to_ascii_lowercase().as_slice() {
        b"http" | b"ws" => Some(Scheme::Http),
        b"https" | b"wss" => Some(Scheme::Https),
        _ => None,
    }
}

/// The scheme, the authority and the target of a URL.
fn split(url: &[u8]) -> Option<(Option<Scheme>, &[u8], &[u8])> {
    let end = url.windows(3).position(|bytes| bytes == b"://")?;
    let (word, rest) = url.split_at_checked(end)?;
    let rest = rest.get(3..)?;
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    let (authority, target) = rest.split_at_checked(end)?;
    (!rest.is_empty()).then_some((scheme(word), authority, target))
}

#[cfg(test)]
mod tests;
