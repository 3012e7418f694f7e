//! Tokens that were hardly meant: a whole User-Agent, and a known token with a typing error.

use alloc::format;
use alloc::vec::Vec;

use super::Compiler;
use crate::catalog::Catalog;
use crate::config::{AgentConfig, Config};
use crate::sort::set_of;
use crate::source::suggestion::differs_by_one_edit;
use crate::user_agent::check_token;

impl Compiler<'_> {
    /// Reports tokens of the document that are not valid, and warns of those that were hardly meant.
    pub(super) fn check_tokens(&mut self, config: &Config, catalog: &Catalog) {
        // Each is compared with the whole catalog.
        const MOST_COMPARED: usize = 1000;
        let known = set_of(catalog.agents.iter().map(|agent| agent.token.to_ascii_lowercase()));
        let mut compared = 0;
        for agent in &config.agents {
            let token = &agent.token;
            let name = is_user_agent(token).then(|| name_in(token, catalog)).flatten();
            if let Err(why) = check_token(token) {
                let advice = name.map(|name| format!("; write the name alone: `{name}`")).unwrap_or_default();
                let message = format!("`{}` is not a valid agent token: {why}{advice}", **token);
                self.own.error(token.position, None, message);
                continue;
            }
            if known.contains(&token.to_ascii_lowercase()) {
                continue;
            }
            if let Some(name) = name {
                let message = format!(
                    "`{}` is a User-Agent, and counts only where all of it stands in one; write the name alone: `{name}`",
                    **token
                );
                self.own.warning(token.position, None, message);
            } else if is_bound_by_nothing(agent) && compared < MOST_COMPARED {
                compared += 1;
                let near = catalog.agents.iter().find(|known| differs_by_one_edit(token, &known.token));
                if let Some(near) = near {
                    let message = format!(
                        "the catalog has no agent `{}`, and nothing verifies it; did you mean `{}`?",
                        **token, near.token
                    );
                    self.own.warning(token.position, None, message);
                }
            }
        }
    }
}

/// Returns true if a text has what a token has not: a comment, an address or a version.
fn is_user_agent(text: &str) -> bool {
    let has_version = || {
        let parts = text.split('/').skip(1);
        parts.into_iter().any(|part| part.starts_with(|first: char| first.is_ascii_digit()))
    };
    text.contains(['(', ';']) || text.contains("://") || has_version()
}

/// The agent that a User-Agent names: the longest known token in it, or else the product after `compatible;` or at its
/// beginning.
fn name_in<'t>(user_agent: &'t str, catalog: &'t Catalog) -> Option<&'t str> {
    let lower = user_agent.to_ascii_lowercase();
    let tokens = catalog.agents.iter().filter(|agent| !agent.begins).map(|agent| agent.token.as_str());
    let known = tokens.filter(|token| lower.contains(&token.to_ascii_lowercase()));
    known.max_by_key(|token| token.len()).or_else(|| {
        let start = user_agent.split_once("compatible; ").map_or(user_agent, |(_, rest)| rest);
        let name = start.split(['/', '(', ';', ' ']).next()?;
        (check_token(name).is_ok() && name != "Mozilla").then_some(name)
    })
}

fn is_bound_by_nothing(agent: &AgentConfig) -> bool {
    agent.feeds.as_ref().is_none_or(Vec::is_empty)
        && agent.keys.is_empty()
        && agent.rdns.as_ref().is_none_or(Vec::is_empty)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};

    use crate::{NoFiles, Ruleset, lint};

    fn said(agents: &str) -> String {
        let document = format!(r#"{{ "agents": [ {agents} ] }}"#);
        let lint = lint::config("c.json", document.as_bytes(), &NoFiles);
        let compiled = Ruleset::compile("c.json", document.as_bytes(), &NoFiles);
        let load: String = compiled.diagnostics.iter().map(|one| format!("{one}\n")).collect();
        let is_said = |one: &&crate::Diagnostic| {
            one.message.contains("write the name") || one.message.contains("did you mean")
        };
        assert!(lint.iter().filter(is_said).all(|one| load.contains(&one.to_string())), "{load}");
        load
    }

    #[test]
    fn a_token_with_a_typing_error_that_nothing_verifies_is_a_warning() {
        for (token, meant) in [
            ("GTPBot", "GPTBot"),
            ("GPTBt", "GPTBot"),
            ("gptbott", "GPTBot"),
            ("GooglBot", "Googlebot"),
            ("ClaudeBit", "ClaudeBot"),
        ] {
            let expected = format!(
                "c.json:1:26: warning: the catalog has no agent `{token}`, and nothing verifies it; did you mean `{meant}`?\n"
            );
            assert_eq!(said(&format!(r#"{{ "token": "{token}", "action": "deny" }}"#)), expected);
        }
        for fine in [
            r#"{ "token": "gptbot" }"#,
            r#"{ "token": "GTPBot", "rdns": ["bot.example.com"] }"#,
            r#"{ "token": "MyOwnBot" }"#,
            r#"{ "token": "Yett" }"#,
        ] {
            assert!(!said(fine).contains("did you mean"), "{fine}");
        }
    }

    #[test]
    fn a_user_agent_is_not_a_token() {
        for (token, name) in [
            ("GPTBot/1.2", "GPTBot"),
            ("Mozilla/5.0 (compatible; GPTBot/1.2)", "GPTBot"),
            ("Mozilla/5.0 (compatible; NewBot/2.0)", "NewBot"),
            ("NewBot/2.0", "NewBot"),
        ] {
            let expected = format!(
                "c.json:1:26: warning: `{token}` is a User-Agent, and counts only where all of it stands in one; write the \
                 name alone: `{name}`\n"
            );
            assert_eq!(said(&format!(r#"{{ "token": "{token}" }}"#)), expected);
        }
        let whole = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)";
        let expected = format!(
            "c.json:1:26: error: `{whole}` is not a valid agent token: it is longer than 64 bytes; write the name alone: \
             `GPTBot`\n"
        );
        assert_eq!(said(&format!(r#"{{ "token": "{whole}" }}"#)), expected);
        assert!(!said(r#"{ "token": "Datadog/Synthetics" }"#).contains("User-Agent"));
    }
}
