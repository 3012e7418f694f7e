//! The settings of a site for usage preferences.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json::typed::json_object;
use crate::source::position::Placed;

json_object! {
    /// The preferences about the usage of the site's pages, beside those in its robots.txt.
    pub struct UsageConfig {
        /// Preferences for parts of the site; the longest scope that matches the path counts.
        pub rules: Vec<UsageRuleConfig> = { Vec::new() },
        /// The URL of the licence, beside those that robots.txt names.
        pub license: Option<Placed<String>> = { None },
        /// True if responses say it, in `Content-Usage` and `Link`.
        pub send: Placed<bool> = { Placed::default(false) },
        /// True if an agent is denied whose known purposes are all disallowed.
        pub enforce: Placed<bool> = { Placed::default(false) },
    }
}

json_object! {
    /// Preferences for a part of a site.
    pub struct UsageRuleConfig {
        /// A path prefix, with `*` and `$` as in robots.txt.
        pub scope: Placed<String> = { Placed::default("/".to_string()) },
        /// The preferences, as `Content-Usage` has them: `train-ai=n, search=y`.
        pub preferences: Placed<String> = required,
    }
}
