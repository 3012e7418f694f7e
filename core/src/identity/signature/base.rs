//! The signature base (RFC 9421, 2.5): the text that a signer signs, made again from the request.

use core::ops::Deref;

use super::query::write_parameter;
use crate::http::structured::{self, Bare, InnerList, Item, Malformed, Unwritable, Write, trimmed};
use crate::request::{Request, Scheme};

/// The most components that a signature may cover, and those of them that are members of dictionaries.
const MOST_COMPONENTS: usize = 16;
const MOST_MEMBERS: usize = 6;

/// The most bytes of the values that a signature may cover.
const MOST_BYTES: usize = 16 << 10;

/// The headers of signatures.
pub(super) const INPUT: &str = "signature-input";
pub(crate) const SIGNATURE: &str = "signature";
pub(super) const AGENT: &str = "signature-agent";

/// The reason why there is no signature base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoBase {
    /// A component is not what RFC 9421 lets be one, or occurs twice.
    Malformed,
    /// A component, or a parameter of one, that is not implemented.
    Unsupported,
    /// The request lacks a component.
    Missing,
    /// More is covered than anybody needs.
    TooMuch,
}

impl From<Malformed> for NoBase {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl From<Unwritable> for NoBase {
    fn from(_: Unwritable) -> Self {
        Self::Unsupported
    }
}

/// The part of the request that a component stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component<'a> {
    Method,
    TargetUri,
    Authority,
    Scheme,
    Path,
    Query,
    /// The only parameter of the query with this name, which is encoded.
    QueryParam(&'a [u8]),
    /// All lines of a header.
    Header(&'a str),
    /// A member of a dictionary in one of the headers of signatures.
    Member(&'a str, &'a [u8]),
}

impl<'a> Component<'a> {
    /// The component that an identifier names (2.1, 2.2).
    pub(super) fn of(item: Item<'a>) -> Result<Self, NoBase> {
        let Bare::String(name) = item.value else { return Err(NoBase::Malformed) };
        let name = core::str::from_utf8(name).map_err(|_| NoBase::Malformed)?;
        let mut parameters = item.parameters.iter();
        let (first, more) = (parameters.next(), parameters.next());
        if name == "@query-param" {
            return match (first, more) {
                (Some((b"name", Bare::String(name))), None) => Ok(Self::QueryParam(name)),
                (Some((b"name", _)) | None, None) => Err(NoBase::Malformed),
                _ => Err(NoBase::Unsupported),
            };
        }
        if name.starts_with('@') {
            let component = match name {
                "@method" => Self::Method,
                "@target-uri" => Self::TargetUri,
                "@authority" => Self::Authority,
                "@scheme" => Self::Scheme,
                "@path" => Self::Path,
                "@query" => Self::Query,
                _ => return Err(NoBase::Unsupported),
            };
            return if first.is_none() { Ok(component) } else { Err(NoBase::Unsupported) };
        }
        let is_in_name = |byte: u8| crate::http::token::is_token_byte(byte) && !byte.is_ascii_uppercase();
        if name.is_empty() || !name.bytes().all(is_in_name) {
            return Err(NoBase::Malformed);
        }
        match (first, more) {
            // It would sign itself.
            (None, _) if name == SIGNATURE => Err(NoBase::Malformed),
            (None, _) => Ok(Self::Header(name)),
            (Some((b"key", Bare::String(key))), None) if [INPUT, SIGNATURE, AGENT].contains(&name) => {
                Ok(Self::Member(name, key))
            }
            (Some((b"key", _)), None) if [INPUT, SIGNATURE, AGENT].contains(&name) => Err(NoBase::Malformed),
            _ => Err(NoBase::Unsupported),
        }
    }
}

/// The components that a signature covers, each once, in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Components<'a> {
    all: [Component<'a>; MOST_COMPONENTS],
    count: usize,
}

impl<'a> Components<'a> {
    /// Reads them, once: who looks for one again and again does not read them again and again.
    pub(super) fn of(covered: InnerList<'a>) -> Result<Self, NoBase> {
        let mut components = Self { all: [Component::Method; MOST_COMPONENTS], count: 0 };
        let mut members = 0;
        // The items of an inner list were read before.
        for item in covered.items() {
            let component = Component::of(item)?;
            members += usize::from(matches!(component, Component::Member(..)));
            let is_repeated = components.contains(&component);
            let free = components.all.get_mut(components.count).filter(|_| members <= MOST_MEMBERS);
            *free.ok_or(NoBase::TooMuch)? = component;
            components.count += 1;
            if is_repeated {
                return Err(NoBase::Malformed);
            }
        }
        Ok(components)
    }
}

impl<'a> Deref for Components<'a> {
    type Target = [Component<'a>];

    fn deref(&self) -> &Self::Target {
        self.all.get(..self.count).unwrap_or_default()
    }
}

/// The target of a request as its signer has written it, where the gate cannot know that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The scheme by which the client sent the request: TLS may end before the gate.
    pub(crate) scheme: Scheme,
    pub(crate) host: HostSpelling,
}

impl Target {
    /// The target as the gate sees it. If the scheme is not known, it is the one that the profile asks for.
    pub(crate) fn of(request: &impl Request) -> Self {
        Self { scheme: request.scheme().unwrap_or(Scheme::Https), host: HostSpelling::LowerCase }
    }
}

/// The spelling of the host in a `@target-uri`. RFC 9421, 2.2.2, does not say which one a signer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostSpelling {
    /// In lower case, as in `@authority`.
    LowerCase,
    /// As the client sent it.
    Sent,
}

/// Writes the signature base of a request for what one label of Signature-Input says.
pub(crate) fn write(
    request: &impl Request,
    input: InnerList<'_>,
    target: Target,
    to: &mut impl FnMut(&[u8]),
) -> Result<(), NoBase> {
    let mut room = MOST_BYTES;
    let mut is_too_much = false;
    let mut bounded = |bytes: &[u8]| match room.checked_sub(bytes.len()) {
        Some(rest) => {
            room = rest;
            to(bytes);
        }
        None => is_too_much = true,
    };
    let to = &mut bounded;
    for (item, component) in input.items().zip(Components::of(input)?.iter()) {
        item.write(to)?;
        to.write(b": ");
        write_value(request, *component, target, to)?;
        to.write(b"\n");
    }
    to.write(b"\"@signature-params\": ");
    input.write(to)?;
    if is_too_much { Err(NoBase::TooMuch) } else { Ok(()) }
}

fn write_value(
    request: &impl Request,
    component: Component<'_>,
    target: Target,
    to: &mut impl Write,
) -> Result<(), NoBase> {
    let whole = || match request.path() {
        b"" => &b"/"[..],
        whole => whole,
    };
    let (path, query) = match whole().iter().position(|byte| *byte == b'?') {
        Some(place) => whole().split_at_checked(place).unwrap_or_default(),
        None => (whole(), &b""[..]),
    };
    match component {
        Component::Method => to.write(request.method()),
        Component::Authority => {
            write_authority(request, Target { host: HostSpelling::LowerCase, ..target }, to)?;
        }
        Component::Scheme => to.write(target.scheme.as_str().as_bytes()),
        Component::TargetUri => {
            to.write(target.scheme.as_str().as_bytes());
            to.write(b"://");
            write_authority(request, target, to)?;
            to.write(whole());
        }
        Component::Path => to.write(path),
        // An absent query is an empty one.
        Component::Query if query.is_empty() => to.write(b"?"),
        Component::Query => to.write(query),
        Component::QueryParam(name) => write_parameter(query, name, to)?,
        Component::Header(name) => {
            let mut lines = request.header_lines(name).map(trimmed);
            to.write(lines.next().ok_or(NoBase::Missing)?);
            for line in lines {
                to.write(b", ");
                to.write(line);
            }
        }
        Component::Member(name, key) => {
            structured::member(request.header_lines(name), key)?.ok_or(NoBase::Missing)?.write(to)?;
        }
    }
    Ok(())
}

/// The host, and the port unless it is the default of the request's own scheme (2.2.3).
fn write_authority(request: &impl Request, target: Target, to: &mut impl Write) -> Result<(), NoBase> {
    let authority = request.authority().filter(|authority| !authority.is_empty()).ok_or(NoBase::Missing)?;
    let default: &[u8] = match target.scheme {
        Scheme::Http => b":80",
        Scheme::Https => b":443",
    };
    let host = authority.strip_suffix(default).or_else(|| authority.strip_suffix(b":")).unwrap_or(authority);
    if target.host == HostSpelling::Sent {
        to.write(host);
        return Ok(());
    }
    for chunk in host.chunks(CHUNK) {
        let mut lower = [0; CHUNK];
        let lower = lower.get_mut(..chunk.len()).unwrap_or_default();
        lower.copy_from_slice(chunk);
        lower.make_ascii_lowercase();
        to.write(lower);
    }
    Ok(())
}

/// As many bytes of a host are made lower case at a time.
const CHUNK: usize = 64;
