//! The line about a denial in an error log.

use alloc::format;
use alloc::string::{String, ToString};

use crate::decide::decision::Decision;
use crate::reason::Reason;
use crate::request::Request;
use crate::ruleset::data::Ruleset;

impl Ruleset {
    /// The line about a denial in an error log: the reason, and what is behind it.
    ///
    /// `denied, purpose-not-allowed, agent: "GPTBot", site: "example.com", purpose: "training" (header), rule:
    /// automation-preferences.txt:4`
    pub fn denial_line(&self, decision: &Decision, request: &impl Request) -> String {
        let facts = self.describe(decision, request);
        let mut line = format!("denied, {}", facts.reason);
        for (key, value) in [("agent", facts.agent), ("feed", facts.feed), ("site", facts.site)] {
            if let Some(value) = value {
                line.push_str(&format!(", {key}: \"{value}\""));
            }
        }
        if decision.reason == Reason::PurposeNotAllowed {
            line.push_str(&match facts.purpose {
                Some(purposes) => format!(", purpose: \"{purposes}\" ({})", purposes.source()),
                None => ", purpose: none".to_string(),
            });
        }
        if let Some(rule) = facts.rule {
            line.push_str(&format!(", rule: {rule}"));
        }
        if let Some(doubt) = decision.doubt.filter(|_| decision.is_passing()) {
            line.push_str(&format!(", doubt: {doubt}"));
        } else if decision.reason == Reason::UnverifiedAgent
            && let Some(agent) = facts.agent
        {
            for doubt in self.doubts(agent, request.address(), request.now()) {
                line.push_str(&format!("; {doubt}"));
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::tests::Asked;
    use crate::{NoFiles, Overrides, decide};

    #[test]
    fn a_denial_says_what_is_behind_it() {
        let document = br#"{ "mode": "enforce", "catalog": "none",
            "feeds": [ { "name": "old", "format": "cidr", "source": "old", "max_age": "1d" } ],
            "agents": [ { "token": "OldBot", "feeds": ["old"] }, { "token": "LoneBot" },
                        { "token": "AiBot", "purposes": ["training", "search"] } ],
            "sites": [ { "hosts": ["strict.test"], "unverified": "deny" },
                       { "hosts": ["prefs.test"], "automation_preferences": "preferences" } ],
            "files": { "old": { "text": "192.0.2.0/24\n", "modified": 1600000000 },
                       "preferences": { "text": "scope: /\nallowed-methods: GET\nallowed-purposes: search\n" } } }"#;
        let compiled = Ruleset::compile("c.json", document, &NoFiles);
        let ruleset = compiled.ruleset.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        let line = |user_agent: &str, host: &str, headers: &[(&str, &str)]| {
            let address = Some([203, 0, 113, 9].into());
            let request = Asked { address, host, user_agent, headers, ..Asked::default() };
            let decision = decide(&ruleset, &request, Overrides::default());
            ruleset.denial_line(&decision, &request)
        };
        assert_eq!(
            line("LoneBot", "strict.test", &[]),
            r#"denied, unverified-agent, agent: "LoneBot", site: "strict.test"; no feed lists its addresses"#
        );
        let of_stale = line("OldBot", "strict.test", &[]);
        assert!(of_stale.contains("the feed `old` is stale"), "{of_stale}");
        let purposes = [("automation-purpose", "search"), ("automation-purpose", "training")];
        let of_purpose = |rest: &str, agent: &str| {
            let rule = r#", rule: preferences:3"#;
            format!(r#"denied, purpose-not-allowed{agent}, site: "prefs.test", purpose: {rest}{rule}"#)
        };
        assert_eq!(line("curl/8", "prefs.test", &purposes), of_purpose(r#""search, training" (header)"#, ""));
        assert_eq!(line("curl/8", "prefs.test", &[]), of_purpose("none", ""));
        let agent = r#", agent: "AiBot""#;
        assert_eq!(line("AiBot", "prefs.test", &[]), of_purpose(r#""training, search" (agent)"#, agent));
    }
}
