//! Rules for redirects, and their targets.

use std::fmt;
use std::sync::Arc;

use ureq::http::{Response, header};
use url::Url;

use super::Trouble;

/// Which redirects are followed. Those from https to anything but https never are.
#[derive(Clone)]
pub(crate) struct RedirectRules {
    /// The most redirects in a row.
    most: usize,
    /// Returns the reason why one from the first URL to another is not followed.
    objection: Option<Arc<Objection>>,
}

type Objection = dyn Fn(&Url, &Url) -> Option<String> + Send + Sync;

impl RedirectRules {
    /// The usual limit for redirects in a row.
    pub(crate) const MOST: usize = 5;

    /// To other servers, too.
    pub(crate) const ANYWHERE: Self = Self { most: Self::MOST, objection: None };

    /// None at all.
    pub(crate) const NONE: Self = Self { most: 0, objection: None };

    /// At most so many, unless something speaks against one from the first URL to another.
    pub(crate) fn checked(
        most: usize,
        objection: impl Fn(&Url, &Url) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { most, objection: Some(Arc::new(objection)) }
    }

    pub(super) fn check(&self, first: &Url, to: Url, followed: usize) -> Result<Url, Trouble> {
        match self.objection.as_ref().and_then(|objection| objection(first, &to)) {
            Some(reason) => Err(Trouble::refused(reason)),
            None if followed < self.most => Ok(to),
            None if self.most == 0 => {
                Err(Trouble::refused(format!("it redirects to {to}; redirects are not followed")))
            }
            None => {
                Err(Trouble::answered(format!("more than {} redirects, the last one to {to}", self.most)))
            }
        }
    }
}

impl fmt::Debug for RedirectRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {}", self.most)
    }
}

/// The target of a redirect.
pub(super) fn target(from: &Url, response: &Response<ureq::Body>) -> Result<Url, Trouble> {
    let status = response.status();
    let location = response.headers().get(header::LOCATION);
    let location =
        location.ok_or_else(|| Trouble::answered(format!("the answer is {status} without a Location")))?;
    let text =
        location.to_str().map_err(|_| Trouble::answered("a redirect leads to a URL that is not ASCII"))?;
    let mut to = from.join(text).map_err(|error| {
        Trouble::answered(format!("a redirect leads to the invalid URL {text:?}: {error}"))
    })?;
    to.set_fragment(None);
    if !to.username().is_empty() || to.password().is_some() {
        let host = to.host_str().unwrap_or_default();
        return Err(Trouble::refused(format!(
            "it redirects to {host} with a user name or a password in the URL"
        )));
    }
    match (from.scheme(), to.scheme()) {
        ("https" | "http", "https") | ("http", "http") => Ok(to),
        ("https", "http") => Err(Trouble::refused(format!(
            "it redirects to {to}, where nothing protects the answer against changes; only https is followed"
        ))),
        (scheme, _) => {
            let followed = if scheme == "https" { "https is" } else { "https and http are" };
            Err(Trouble::refused(format!("it redirects to {to}; only {followed} followed")))
        }
    }
}
