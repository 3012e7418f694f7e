//! The state of a request from one phase to the next.

use std::cell::{Cell, OnceCell};
use std::net::IpAddr;
use std::rc::Rc;

use crawlpike_core::{Decision, DocumentWish, NameFact, Overrides};

use crate::nginx::LocationId;
use crate::ruleset::LoadedRuleset;

/// The state of a client's request.
#[derive(Debug)]
pub(crate) struct RequestState {
    /// The ruleset for all of the request, whatever is in force meanwhile.
    pub(crate) ruleset: Rc<LoadedRuleset>,
    /// Facts from the names of its headers when the request came.
    pub(crate) seen: SeenNames,
    /// The result of the lookup of the client's name.
    pub(crate) name: Cell<Option<NameFact>>,
    /// The last decision.
    pub(crate) last: Cell<Option<Decided>>,
    /// The decision of the last access phase, by which the request is served.
    pub(crate) served_by: Cell<Option<ServedBy>>,
    /// True while the variable with the mode is being evaluated. It may itself read variables of this module.
    pub(crate) is_evaluating_mode: Cell<bool>,
    /// True if the request can have an `X-Crawlpike`: this module's, or one from outside.
    pub(crate) may_have_header: Cell<bool>,
    /// The `X-Crawlpike` that came from outside, if any location trusts it.
    pub(crate) outer_header: Option<Box<[u8]>>,
    /// A denial of which nginx.conf has read, ahead of the access phase, that it will be enforced.
    pub(crate) announced: Cell<Option<Decision>>,
    /// True if the path of a page was put in the place of its markdown's.
    pub(crate) is_at_page: Cell<bool>,
    /// The document that is asked for, on a site that sends them. In a box: all other requests would carry its place along.
    pub(crate) document: OnceCell<Box<AskedDocument>>,
}

/// Facts from the names of a request's headers when it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenNames {
    /// True if the client sent no signature.
    pub(crate) is_unsigned: bool,
    /// True if there is a single line of `User-Agent`, which nginx knows.
    pub(crate) has_one_user_agent: bool,
}

/// The document that a request asks for, on a site that sends them.
#[derive(Debug)]
pub(crate) struct AskedDocument {
    pub(crate) wish: DocumentWish,
    /// The tags of documents that the client has.
    pub(crate) known: Vec<Box<[u8]>>,
    /// For the variable: what has become of it so far.
    pub(crate) shown: Cell<Option<&'static str>>,
}

impl RequestState {
    #[inline]
    pub(crate) fn new(
        ruleset: Rc<LoadedRuleset>,
        outer_header: Option<Box<[u8]>>,
        may_have_header: bool,
        seen: SeenNames,
    ) -> Self {
        Self {
            ruleset,
            seen,
            name: Cell::default(),
            last: Cell::default(),
            served_by: Cell::default(),
            is_evaluating_mode: Cell::default(),
            may_have_header: Cell::new(may_have_header),
            outer_header,
            announced: Cell::default(),
            is_at_page: Cell::default(),
            document: OnceCell::new(),
        }
    }
}

/// The decision by which a request is served, and the location that serves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServedBy {
    pub(crate) decision: Decision,
    pub(crate) location: LocationId,
}

/// A decision that holds as long as its basis does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided {
    pub(crate) basis: Basis,
    pub(crate) decision: Decision,
    /// The response to a denial is on its way. What follows (an `error_page`, the log) is part of it.
    pub(crate) is_final: bool,
}

/// The facts that can change while a request is served, by `realip` in a location or by a redirect to another location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Basis {
    pub(crate) address: Option<IpAddr>,
    pub(crate) overrides: Overrides,
}
