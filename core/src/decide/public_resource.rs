//! The resources that are never denied, and those of them that a gate serves.

use crate::decide::asked_once::AskedOnce;
use crate::http::representation::Representation;
use crate::path::request::RequestTarget;
use crate::request::Request;
use crate::ruleset::sites::Site;

/// A resource that nobody is denied: who must obey a rule must be able to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PublicResource {
    RobotsTxt,
    AutomationPreferences,
    AiwebindexProof,
}

impl PublicResource {
    /// The resource at this path, its query aside.
    pub(super) fn at(target: &RequestTarget<'_>) -> Option<Self> {
        let known: [(&[u8], Self); 3] = [
            (b"/robots.txt", Self::RobotsTxt),
            (b"/automation-preferences.txt", Self::AutomationPreferences),
            (b"/.well-known/aiwebindex-verify.txt", Self::AiwebindexProof),
        ];
        let found = known.into_iter().find(|(path, _)| target.is_before_query(path));
        found.map(|(_, resource)| resource)
    }

    /// The representation that the site serves for it; `None`: the origin does.
    pub(crate) fn of(self, site: &Site) -> Option<&Representation> {
        match self {
            Self::RobotsTxt => site.robots.as_ref().map(|file| &file.served),
            Self::AutomationPreferences => site.preferences.as_ref().map(|policy| &policy.file.served),
            Self::AiwebindexProof => site.proof.as_deref(),
        }
    }

    /// The resource that the site serves itself for this request.
    pub(super) fn served<R: Request>(site: &Site, request: &AskedOnce<'_, R>) -> Option<Self> {
        if site.robots.is_none() && site.preferences.is_none() && site.proof.is_none() {
            return None;
        }
        let resource = Self::at(request.target()).filter(|resource| resource.of(site).is_some())?;
        matches!(request.method(), b"GET" | b"HEAD").then_some(resource)
    }
}
