//! Access logs drawn from a seed, with real agents, impostors, people and lines that are none; and what a report must say
//! of them, counted while they are drawn.

mod client;
mod expected;
mod line;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fastrand::Rng;

use crate::artefacts;
use client::Clients;
pub use expected::{Expected, of_report};
use line::{Format, Request};

/// The configuration that the report is made with, and its policy: line 2 keeps robots out of `/private/`, line 5 keeps
/// GPTBot out of everything. `blog.example` has no policy.
const CONFIG: &str = r#"{ "mode": "enforce",
  "feeds": [
    { "name": "googlebot", "format": "jafar", "source": "google-googlebot.json" },
    { "name": "gptbot", "format": "jafar", "source": "openai-gptbot.json" },
    { "name": "applebot", "format": "jafar", "source": "apple-applebot.json" } ],
  "agents": [
    { "token": "Googlebot", "feeds": ["googlebot"] },
    { "token": "GPTBot", "feeds": ["gptbot"] },
    { "token": "Applebot", "feeds": ["applebot"] },
    { "token": "HomemadeBot" } ],
  "sites": [
    { "hosts": ["blog.example"] },
    { "name": "shop", "robots_txt": "robots.txt" } ] }
"#;
const ROBOTS_TXT: &str = "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\n";

/// Writes the configuration, its policy and its feeds into a folder, and gives the document's path.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write_configuration(folder: &Path) -> io::Result<PathBuf> {
    for feed in ["google-googlebot.json", "openai-gptbot.json", "apple-applebot.json"] {
        fs::copy(artefacts::feeds().join(feed), folder.join(feed))?;
    }
    fs::write(folder.join("robots.txt"), ROBOTS_TXT)?;
    let config = folder.join("crawlpike.json");
    fs::write(&config, CONFIG)?;
    Ok(config)
}

/// Writes a log of so many lines, of seven days, in three formats, and gives what a report must say of it.
///
/// # Errors
///
/// If `log` fails.
pub fn write_log(lines: u64, seed: u64, log: &mut impl Write) -> io::Result<Expected> {
    const BEGIN: i64 = 1_795_305_600;
    const WEEK: u64 = 7 * 86_400;
    let mut random = Rng::with_seed(seed);
    let clients = Clients::new();
    let mut expected = Expected::default();
    let mut bytes = Vec::new();
    for number in 0..lines {
        bytes.clear();
        expected.lines += 1;
        // A few lines are none, or no requests, or too long.
        let is_long = lines >= 4 && number % (lines / 4) == lines / 8;
        match random.u32(0..1_000) {
            _ if is_long => {
                bytes.resize((1 << 20) + random.usize(0..100_000), b'x');
                expected.too_long += 1;
            }
            0 => {
                bytes.extend((0..random.usize(1..300)).map(|_| random.u8(128..)));
                expected.unreadable += 1;
            }
            1 => {
                let request = Request::example(Format::Json);
                request.write(&mut bytes);
                bytes.truncate(random.usize(1..bytes.len() - 1));
                expected.unreadable += 1;
            }
            2 => {
                bytes.extend_from_slice(
                    b"192.0.2.1 - - [22/Nov/2026:07:05:12 +0000] \"\\x16\\x03\\x01\" 400 150 \"-\" \"-\"",
                );
                expected.without_request += 1;
            }
            _ => {
                let client = clients.draw(&mut random);
                // Servers log requests when they end, so times are not in order.
                let late = random.i64(0..120);
                let time = BEGIN + i64::try_from(number * WEEK / lines).unwrap_or_default() - late;
                let request = Request::draw(&client, time, &mut random);
                request.write(&mut bytes);
                expected.add(&client, &request);
            }
        }
        bytes.push(b'\n');
        log.write_all(&bytes)?;
    }
    log.flush()?;
    Ok(expected)
}
