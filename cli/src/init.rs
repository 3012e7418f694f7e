//! `crawlpike init`: a configuration to begin with.

mod shipped;
mod timer;
mod wishes;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use crawlpike_core::{Argument, UsageStatement};
use serde_json::{Value, json};
use url::Url;

use crate::catalog::{Catalog, PublishedFeed};
use crate::failure::Failure;
use crate::init::shipped::Shipped;
pub(crate) use crate::init::timer::cron_line;

/// Create a configuration with all feeds and key directories of the catalog
///
/// Writes crawlpike.json, a README.md that explains it, a service and a timer of systemd that keep the feeds and the keys
/// current, and the folder `feeds`. Copies of some feeds are in it, so that their agents can be verified before the first update. The mode is
/// `observe`, which denies no request. Nothing is overwritten.
///
/// At a terminal, it asks what may be done with your pages. The answer is written in each notation: to `usage` of the site, and as
/// Content-Usage and Content-Signal to robots.txt.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike init /etc/nginx/crawlpike
  crawlpike init --usage 'search=y, ai-use=n, train-ai=n' /etc/nginx/crawlpike
  crawlpike update --config /etc/nginx/crawlpike/crawlpike.json
      Fetches the feeds and the keys.")]
pub(crate) struct Arguments {
    /// The folder to write to; created if it does not exist
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,
    /// The permitted usage of your pages, as Content-Usage has it; '' says nothing [default: at a terminal, a question]
    #[arg(long, value_name = "PREFERENCES")]
    usage: Option<UsageStatement>,
}

const DOCUMENT: &str = "crawlpike.json";
const README: &str = "README.md";
const SERVICE: &str = "crawlpike-update.service";
const TIMER: &str = "crawlpike-update.timer";
const ROBOTS: &str = "robots.txt";
const FEEDS: &str = "feeds";
const KEYS: &str = "keys";

/// The `max_age` of a feed.
const MAX_AGE: &str = "7d";

/// The same for a feed of which a copy ships, so that the copy can be used at first.
const MAX_AGE_OF_COPY: &str = "180d";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let folder = &arguments.folder;
    let [document, readme, service, timer, robots] =
        [DOCUMENT, README, SERVICE, TIMER, ROBOTS].map(|name| folder.join(name));
    let mut files = [&document, &readme, &service, &timer, &robots].into_iter();
    if let Some(there) = files.find(|path| path.symlink_metadata().is_ok()) {
        return Err(Failure::because(format_args!(
            "{} exists; name another folder, or remove the file",
            there.display()
        )));
    }
    let usage = arguments.usage.map_or_else(wishes::ask, Ok)?;
    let feeds = folder.join(FEEDS);
    fs::create_dir_all(&feeds).map_err(|error| failure(&feeds, &error))?;
    let [whole_folder, shown] = [folder.as_path(), &document].map(std::path::absolute);
    let (whole_folder, shown) = (whole_folder.map_err(Failure::because)?, shown.map_err(Failure::because)?);
    let unit = timer::service(&whole_folder, &shown).map_err(|error| failure(&service, &error))?;
    let cron = cron_line(&shown, None);
    let [whole_folder, shown] =
        [whole_folder, shown].map(|path| Argument(&path.display().to_string()).to_string());
    let (catalog, shipped) = (Catalog::built_in()?, Shipped::read()?);
    for feed in &catalog.feeds {
        let path = folder.join(source(feed));
        // A file that is there may be newer.
        if let Some(copy) = shipped.copy(&feed.name).filter(|_| path.symlink_metadata().is_err()) {
            create(&path, copy.bytes, Some(copy.fetched))?;
        }
    }
    create(&service, unit.as_bytes(), None)?;
    create(&timer, timer::TIMER.as_bytes(), None)?;
    let values = [("CRON", &*cron), ("CONFIG", &shown), ("DATE", shipped.day()), ("FOLDER", &whole_folder)];
    create(&readme, filled(README_TEXT, &values).as_bytes(), None)?;
    if !usage.is_empty() {
        create(&robots, wishes::robots_txt(usage).as_bytes(), None)?;
    }
    create(&document, configuration(&catalog, &shipped, usage)?.as_bytes(), None)?;
    let mut output = io::stdout().lock();
    writeln!(output, "Created {shown} with its README.md. Next:")?;
    writeln!(output, "  1. put the names of your site into `hosts`")?;
    if !usage.is_empty() {
        writeln!(
            output,
            "     and the rules of its robots.txt into {ROBOTS}, which says what may be done with your pages"
        )?;
    }
    writeln!(output, "  2. crawlpike update --config {shown}")?;
    writeln!(output, "  3. in the http block of nginx.conf: crawlpike_config {shown};")?;
    writeln!(output, "  4. keep the feeds and the keys current, as root:")?;
    writeln!(output, "     cp {whole_folder}/{SERVICE} {whole_folder}/{TIMER} /etc/systemd/system/")?;
    writeln!(output, "     systemctl enable --now {TIMER}")?;
    writeln!(output, "     or with cron:  {cron}")?;
    Ok(ExitCode::SUCCESS)
}

/// The text with values in place of their names. A value may have such a name in it.
fn filled(text: &str, values: &[(&str, &str)]) -> String {
    let Some((name, value)) = values.iter().find(|(name, _)| text.contains(name)) else { return text.into() };
    text.split(name).map(|part| filled(part, values)).collect::<Vec<_>>().join(value)
}

/// When the newest of the feeds that come with the program was fetched.
pub(crate) fn newest_copy() -> Option<SystemTime> {
    Shipped::read().ok()?.newest()
}

/// Writes a new file, which was modified at `time` if that is given.
fn create(path: &Path, content: &[u8], time: Option<SystemTime>) -> Result<(), Failure> {
    let created = File::create_new(path).and_then(|mut file| {
        file.write_all(content)?;
        time.map_or(Ok(()), |time| file.set_modified(time))
    });
    created.map_err(|error| failure(path, &error))
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure::because(format_args!("cannot create {}: {error}", path.display()))
}

/// The path of a feed's file in the document.
fn source(feed: &PublishedFeed) -> String {
    let suffix = if feed.format == "cidr" { "txt" } else { "json" };
    format!("{FEEDS}/{}.{suffix}", feed.name)
}

/// The agents of the catalog that sign their requests, with the directories of their keys, one a line.
fn agents(catalog: &Catalog) -> Result<Vec<String>, Failure> {
    let signing = catalog.agents.iter().filter(|agent| !agent.keys.is_empty());
    let agents = signing.map(|agent| {
        let keys = agent.keys.iter().map(|directory| {
            let url = Url::parse(directory).map_err(Failure::because)?;
            // Each operator has one.
            let source = format!("{KEYS}/{}.json", url.host_str().unwrap_or_default());
            Ok(format!("{{ \"directory\": {}, \"source\": {} }}", json!(directory), json!(source)))
        });
        let keys = keys.collect::<Result<Vec<_>, Failure>>()?.join(", ");
        Ok(format!("    {{ \"token\": {}, \"keys\": [{keys}] }}", json!(agent.token)))
    });
    agents.collect()
}

/// A document with the feeds and the directories of the catalog, one a line.
fn configuration(catalog: &Catalog, shipped: &Shipped, usage: UsageStatement) -> Result<String, Failure> {
    let feeds: Vec<String> = catalog
        .feeds
        .iter()
        .map(|feed| {
            let has_copy = shipped.copy(&feed.name).is_some();
            let members = [
                ("name", &*feed.name),
                ("format", &feed.format),
                ("source", &source(feed)),
                ("max_age", if has_copy { MAX_AGE_OF_COPY } else { MAX_AGE }),
                ("url", &feed.url),
            ];
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("\"{key}\": {}", Value::from(*value))).collect();
            format!("    {{ {} }}", members.join(", "))
        })
        .collect();
    let mut site = json!({ "hosts": ["example.com", "*.example.com"] });
    if let Some(preferences) = usage.text() {
        site["robots_txt"] = ROBOTS.into();
        site["usage"] = json!({ "rules": [{ "scope": "/", "preferences": preferences }], "send": true });
    }
    Ok(format!(
        "{{\n  \"mode\": \"observe\",\n  \"feeds\": [\n{}\n  ],\n  \"agents\": [\n{}\n  ],\n  \"sites\": [\n    {site},\n    {}\n  ]\n}}\n",
        feeds.join(",\n"),
        agents(catalog)?.join(",\n"),
        json!({ "name": "other hosts" })
    ))
}

const README_TEXT: &str = "\
# The configuration of Crawlpike

`crawlpike.json` denies no request: its mode is `observe`. To enforce the decisions, set the mode to `enforce`.

| key | what to do |
|---|---|
| `mode` | keep `observe` until the log shows only denials that you want |
| `feeds` | the IP ranges that operators publish, for all agents of the catalog; remove what you do not need |
| `feeds[].max_age` | the age after which a feed verifies no client; for the feeds that came with Crawlpike, set it to `7d` once the timer runs |
| `agents[].keys` | the directories of the keys with which agents sign their requests; remove what you do not need |
| `sites[0].hosts` | put the names of your site here |
| `sites[0].usage` | what may be done with your pages, if you said it: responses say it, too |
| `sites[1]` | the settings of all other hosts |

To apply a robots.txt, add `\"robots_txt\": \"robots.txt\"` to a site. The path is relative to this folder. If the mode is `enforce`,
Crawlpike serves this file in place of yours, so put all your rules into it.

## Keep the feeds and the keys current

Fetch them once:

```sh
crawlpike update --config CONFIG
```

Until then, no signature is verified, and some agents are verified by the copies in `feeds/` that came with Crawlpike, of DATE. Their licence is
CC0-1.0; their source is the AI Crawler Index.

Then run the command once an hour. It asks each publisher only when its answer is no longer fresh, about once a day.
With systemd, as root:

```sh
cp FOLDER/crawlpike-update.service FOLDER/crawlpike-update.timer /etc/systemd/system/
systemctl enable --now crawlpike-update.timer
systemctl status crawlpike-update           # the output of the last run
```

The service runs as the owner of this folder, and can write to nothing else. Or as a line for cron:

```
CRON
```

With `crawlpike_refresh 60s;` in the http block of nginx.conf, nginx uses new versions within a minute. Otherwise, add
`--pid-file /run/nginx.pid` to the command, so that nginx is reloaded.

## Check

```sh
crawlpike doctor --config CONFIG          # everything on this machine, with what mends it
crawlpike lint --format config CONFIG     # mistakes in the configuration
crawlpike feeds --config CONFIG           # the state of each feed
crawlpike agents --config CONFIG          # which agents can be verified
```
";
