//! The settings for one request.

use crate::config::Mode;
use crate::ids::SiteId;
use crate::request::NameFact;

/// The settings and findings of a host for one request, beside the configuration document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Instead of every mode in the document.
    pub mode: Option<Mode>,
    /// Instead of the site of the request's host: a number from [`Ruleset::site`].
    pub site: Option<SiteId>,
    /// The outcome of the lookup of the client's name: see [`crate::Ruleset::name_lookup`].
    pub name: Option<NameFact>,
    /// True if the host has seen that the request has no signature: see [`crate::HeaderNames`].
    pub is_unsigned: bool,
    /// True if the path asks for itself only, even where `.md` would ask for the markdown of a page.
    pub keeps_path: bool,
}
