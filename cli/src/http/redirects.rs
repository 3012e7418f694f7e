//! Rules for redirects, and their targets.

use std::fmt;
use std::sync::Arc;

use ureq::http::{Response, header};
use url::Url;

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
    /// To other servers, too.
    pub(crate) const ANYWHERE: Self = Self { most: 5, objection: None };

    /// None at all.
    pub(crate) const NONE: Self = Self { most: 0, objection: None };

    /// At most so many, unless something speaks against one from the first URL to another.
    pub(crate) fn checked(
        most: usize,
        objection: impl Fn(&Url, &Url) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { most, objection: Some(Arc::new(objection)) }
    }

    pub(super) fn check(&self, first: &Url, to: Url, followed: usize) -> Result<Url, String> {
        match self.objection.as_ref().and_then(|objection| objection(first, &to)) {
            Some(reason) => Err(reason),
            None if followed < self.most => Ok(to),
            None if self.most == 0 => Err(format!("it redirects to {to}; redirects are not followed")),
            None => Err(format!("more than {} redirects, the last one to {to}", self.most)),
        }
    }
}

impl fmt::Debug for RedirectRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {}", self.most)
    }
}

/// The target of a redirect.
pub(super) fn target(from: &Url, response: &Response<ureq::Body>) -> Result<Url, String> {
    let status = response.status();
    let location = response.headers().get(header::LOCATION);
    let location = location.ok_or_else(|| format!("the answer is {status} without a Location"))?;
    let text = location.to_str().map_err(|_| "a redirect leads to a URL that is not ASCII".to_owned())?;
    let mut to =
        from.join(text).map_err(|error| format!("a redirect leads to the invalid URL {text:?}: {error}"))?;
    to.set_fragment(None);
    match (from.scheme(), to.scheme()) {
        ("https" | "http", "https") | ("http", "http") => Ok(to),
        _ => Err(format!(
            "it redirects to {to}, where nothing protects the answer against changes; only https is followed"
        )),
    }
}
