//! Questions that cannot be answered, because it is not clear which request they are about.

use std::fmt;

/// The reason that it is not clear which request a proxy asks about. Nothing is decided, and nothing guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// The peer is not a trusted one.
    Peer,
    /// The head of the question is not one of HTTP/1.
    Head,
    /// The head of the question has more bytes than this.
    Size(usize),
    /// The headers of more than one dialect are there, or those of none.
    Dialect,
    /// A header is missing.
    Missing(&'static str),
    /// A header contradicts itself or another one.
    Contradictory(&'static str),
    /// A header has no value of its kind.
    Unreadable(&'static str),
    /// A setting of the proxy's route.
    Setting(&'static str),
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Peer => f.write_str("the peer may not ask: name its address with --trust if it is a proxy of yours"),
            Self::Head => f.write_str("its head is not one of HTTP/1.1"),
            Self::Size(most) => write!(f, "its head has more than {most} bytes"),
            Self::Dialect => f.write_str(
                "the dialect is not clear from the headers: name it as the first part of the path, as in /traefik, or with --dialect",
            ),
            Self::Missing(name) => write!(f, "{name} is missing: have the proxy send it"),
            Self::Contradictory(name) => write!(f, "{name} contradicts itself or another header"),
            Self::Unreadable(name) => write!(f, "the value of {name} cannot be read"),
            Self::Setting(name) => write!(f, "the proxy's setting \"{name}\" has an invalid value"),
        }
    }
}
