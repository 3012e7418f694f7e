//! `crawlpike import`: agents from their Signature Agent Cards.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crawlpike_core::{AgentCard, TokenError, check_token};
use serde_json::{Value, json};
use url::Url;

use crate::catalog::Catalog;
use crate::failure::{Failure, say};
use crate::source;

/// Print the entries of a configuration for an agent that publishes a Signature Agent Card
///
/// A card (draft-meunier-webbotauth-registry) is JSON that an agent's operator publishes. It names the token of the agent, the
/// directory of its keys and the list of its IP ranges. The output is a configuration with an entry for the agent and one for its
/// ranges: copy them to yours, then run `crawlpike update`.
///
/// Nothing is fetched. A card proves nothing: anybody can publish one with any name. Import only cards of agents that you know.
/// Keys that are in the card itself are ignored, because keys count only together with the directory that publishes them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  curl -fsS https://example.com/bot | crawlpike import --url https://example.com/bot -
  crawlpike import --token ExampleBot card.json")]
pub(crate) struct Arguments {
    /// The URL at which the card is published; its `client_id` must be the same
    #[arg(long)]
    url: Option<String>,
    /// The token that claims the agent in a User-Agent, instead of that of the card
    #[arg(long, value_parser = agent_token)]
    token: Option<String>,
    /// The card; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// A token as a configuration accepts it.
fn agent_token(text: &str) -> Result<String, TokenError> {
    check_token(text).map(|()| text.into())
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let bytes = source::read_or_stdin(&arguments.file)?;
    let name = source::shown(&arguments.file);
    let (card, diagnostics) = AgentCard::read(&name, &bytes);
    for diagnostic in &diagnostics {
        say(diagnostic);
    }
    let card = card.ok_or(Failure::Reported)?;
    if let Some(url) = arguments.url.as_ref().filter(|url| card.client_id.as_ref() != Some(*url)) {
        let id = card.client_id.as_deref().unwrap_or("absent");
        return Err(Failure::because(format_args!(
            "{name}: `client_id` is {id}, so this is not the card of {url}"
        )));
    }
    let Some(token) = arguments.token.as_ref().or(card.token.as_ref()) else {
        return Err(Failure::because(format_args!(
            "{name}: the card has neither `rfc9309-product-token` nor a name that can be a token; state the token with --token"
        )));
    };
    warn(&name, &card, token)?;
    let mut output = io::stdout().lock();
    serde_json::to_writer_pretty(&mut output, &configuration(&card, token))?;
    writeln!(output)?;
    Ok(ExitCode::SUCCESS)
}

/// Warns of what the reader has to check before trusting the agent.
fn warn(name: &str, card: &AgentCard, token: &str) -> Result<(), Failure> {
    let catalog = Catalog::built_in()?;
    if let Some(known) = catalog.agent(token) {
        say(format_args!(
            "{name}: warning: the catalog has {} already; make sure that its operator publishes this card: whoever holds its \
             keys, or has an address in its ranges, is verified as this agent",
            known.token
        ));
    }
    if let Some(feed) = catalog.feeds.iter().find(|feed| feed.name == plain(token)) {
        say(format_args!(
            "{name}: warning: the catalog has a feed with the name of this token, {}; make sure that its publisher publishes \
             this card",
            feed.url
        ));
    }
    let host = |url: &Option<String>| {
        let url = Url::parse(url.as_ref()?).ok()?;
        url.host_str().map(str::to_owned)
    };
    if let (Some(own), Some(keys)) = (host(&card.client_id), host(&card.jwks_uri))
        && own != keys
    {
        say(format_args!("{name}: warning: the card is at {own}, and the keys are at {keys}"));
    }
    Ok(())
}

/// A token in letters for names of files and of feeds.
fn plain(token: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    token.chars().map(plain).collect()
}

/// A configuration with the entries for the agent.
fn configuration(card: &AgentCard, token: &str) -> Value {
    // Under a name of the catalog, the ranges would verify the catalog's agents: its agents name their feeds.
    let name = format!("card-{}", plain(token));
    let mut agent = json!({ "token": token });
    let mut document = json!({});
    if let Some(ranges) = &card.ips_uri {
        document["feeds"] = json!([
            { "name": name, "format": "jafar", "source": format!("feeds/{name}.json"), "url": ranges, "max_age": "7d" }
        ]);
        agent["feeds"] = json!([name]);
        // A card does not say that they are complete.
        agent["ranges"] = json!("partial");
    }
    if let Some(purpose) = &card.purpose {
        agent["purposes"] = json!([purpose]);
    }
    if let Some(directory) = &card.jwks_uri {
        agent["keys"] = json!([{ "directory": directory, "source": format!("keys/{name}.json") }]);
    }
    document["agents"] = json!([agent]);
    document
}
