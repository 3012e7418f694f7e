//! Requests for the markdown of a page at its own path.

use crate::config::Mode;
use crate::decide::asked_once::AskedOnce;
use crate::decide::judge::find_site;
use crate::decide::policies::mode_of_part;
use crate::path::page::page_of;
use crate::request::{Overrides, Request};
use crate::ruleset::data::Ruleset;
use crate::ruleset::sites::Site;

impl Ruleset {
    /// The part that a request's path has added to that of the page whose markdown it asks for: `.md`, or `index.md`.
    /// `None`: it asks for no page in this way, or its site does not serve them so. The gate then asks the origin for
    /// the page's path.
    pub fn added_to_page(&self, request: &impl Request, overrides: Overrides) -> Option<&'static str> {
        if !self.sites.have_md_paths {
            return None;
        }
        let target = request.path();
        let (page, rest) = page_of(target)?;
        if !matches!(request.method(), b"GET" | b"HEAD") || !self.serves_md_paths(request, overrides) {
            return None;
        }
        ["index.md", ".md"].into_iter().find(|added| added.len() + page.len() + rest.len() == target.len())
    }

    /// Returns true if the site of a request serves the markdown of pages at paths of their own.
    pub fn serves_md_paths(&self, request: &impl Request, overrides: Overrides) -> bool {
        if overrides.keeps_path || overrides.mode == Some(Mode::Off) {
            return false;
        }
        let site = overrides.site.or_else(|| find_site(self, request)).and_then(|id| self.sites.get(id));
        let is_off = || match overrides.mode {
            Some(mode) => mode == Mode::Off,
            None => mode_of_part(self, site, &AskedOnce::new(request, true)).0 == Mode::Off,
        };
        site.is_some_and(Site::has_md_paths) && !is_off()
    }
}
