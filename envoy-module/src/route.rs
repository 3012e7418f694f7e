//! The configuration for a route, a virtual host or a route table.

use crawlpike_core::{Mode, Overrides, Ruleset};
use serde::Deserialize;

use crate::envoy::{LogLevel, log};
use crate::errors;

/// The settings that take the place of those of the document.
#[derive(Debug)]
pub(crate) struct Route {
    mode: Option<Mode>,
    /// The name of a site in the document.
    site: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    mode: Option<String>,
    site: Option<String>,
}

impl Route {
    /// Reads it. `None`: it is refused, and the log has the reason.
    pub(crate) fn new(text: &[u8]) -> Option<Self> {
        let refused = |why: &str| {
            log(LogLevel::Error, &format!("crawlpike: route configuration: {why}"));
            None
        };
        let Text { mode, site } = match serde_json::from_slice(text) {
            Ok(read) => read,
            Err(error) => return refused(&error.to_string()),
        };
        let mode = match mode.map(|word| Mode::from_word(&word).ok_or(word)).transpose() {
            Ok(mode) => mode,
            Err(word) => return refused(&format!("invalid mode \"{word}\"; use off, observe or enforce")),
        };
        Some(Self { mode, site })
    }

    /// The settings, as they apply to a ruleset.
    pub(crate) fn overrides(&self, ruleset: &Ruleset) -> Overrides {
        let site = self.site.as_deref().and_then(|name| {
            let site = ruleset.site(name);
            if site.is_none() {
                errors::note(&format_args!(
                    "a route names the site \"{name}\", which the configuration does not have; using the site of the host"
                ));
            }
            site
        });
        Overrides { mode: self.mode, site, ..Overrides::default() }
    }
}
