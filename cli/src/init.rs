//! `crawlward init`: a configuration to begin with.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::failure::Failure;

/// Create a configuration with all feeds of the catalog
///
/// Writes crawlward.json, a README.md that explains it, and an empty folder for the feeds. The mode is `observe`, which denies
/// no request. Nothing is overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlward init /etc/nginx/crawlward
  crawlward update --config /etc/nginx/crawlward/crawlward.json
      Fetches the feeds.")]
pub(crate) struct Arguments {
    /// The folder to write to; created if it does not exist
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,
}

const DOCUMENT: &str = "crawlward.json";
const README: &str = "README.md";
const FEEDS: &str = "feeds";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let folder = &arguments.folder;
    let [document, readme] = [DOCUMENT, README].map(|name| folder.join(name));
    if let Some(there) = [&document, &readme].into_iter().find(|path| path.symlink_metadata().is_ok()) {
        return Err(Failure::because(format_args!(
            "{} exists; name another folder, or remove the file",
            there.display()
        )));
    }
    let feeds = folder.join(FEEDS);
    fs::create_dir_all(&feeds).map_err(|error| failure(&feeds, &error))?;
    let shown = std::path::absolute(&document)?.display().to_string();
    create(&readme, &README_TEXT.replace("CONFIG", &shown))?;
    create(&document, &configuration(&Catalog::built_in()?))?;
    let mut output = io::stdout().lock();
    writeln!(output, "Created {shown} with its README.md. Next:")?;
    writeln!(output, "  1. put the names of your site into `hosts`")?;
    writeln!(output, "  2. crawlward update --config {shown}")?;
    writeln!(output, "  3. in the http block of nginx.conf: crawlward_config {shown};")?;
    Ok(ExitCode::SUCCESS)
}

fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let created = File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    created.map_err(|error| failure(path, &error))
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure::because(format_args!("cannot create {}: {error}", path.display()))
}

/// A document with the feeds of the catalog, one a line.
fn configuration(catalog: &Catalog) -> String {
    let feeds: Vec<String> = catalog
        .feeds
        .iter()
        .map(|feed| {
            let suffix = if feed.format == "cidr" { "txt" } else { "json" };
            let members = [
                ("name", &*feed.name),
                ("format", &feed.format),
                ("source", &format!("{FEEDS}/{}.{suffix}", feed.name)),
                ("max_age", "7d"),
                ("url", &feed.url),
            ];
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("\"{key}\": {}", Value::from(*value))).collect();
            format!("    {{ {} }}", members.join(", "))
        })
        .collect();
    let site = json!({ "hosts": ["example.com", "*.example.com"] });
    format!(
        "{{\n  \"mode\": \"observe\",\n  \"feeds\": [\n{}\n  ],\n  \"sites\": [\n    {site},\n    {}\n  ]\n}}\n",
        feeds.join(",\n"),
        json!({ "name": "other hosts" })
    )
}

const README_TEXT: &str = "\
# The configuration of Crawlward

`crawlward.json` denies no request: its mode is `observe`. To enforce the decisions, set the mode to `enforce`.

| key | what to do |
|---|---|
| `mode` | keep `observe` until the log shows only denials that you want |
| `feeds` | the IP ranges that operators publish, for all agents of the catalog; remove what you do not need |
| `sites[0].hosts` | put the names of your site here |
| `sites[1]` | the settings of all other hosts |

To apply a robots.txt, add `\"robots_txt\": \"robots.txt\"` to a site. The path is relative to this folder.

## Keep the feeds current

Fetch the feeds once:

```sh
crawlward update --config CONFIG
```

Then run the command once an hour. It asks each publisher only when its answer is no longer fresh, about once a day.
As a line for cron:

```
17 * * * *  crawlward update --config CONFIG
```

With `crawlward_refresh 60s;` in the http block of nginx.conf, nginx uses new versions within a minute. Otherwise, add
`--pid-file /run/nginx.pid` to the command, so that nginx is reloaded.

## Check

```sh
crawlward lint --format config CONFIG     # mistakes in the configuration
crawlward feeds --config CONFIG           # the state of each feed
crawlward agents --config CONFIG          # which agents can be verified
```
";
