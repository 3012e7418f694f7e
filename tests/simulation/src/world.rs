//! The world: all publishers, and the configuration of all edges.

use std::fmt::Write;
use std::ops::Range;

use crawlpike_core::{NoFiles, Ruleset, Subscriptions};
use fastrand::Rng;

use crate::copy::Folder;
use crate::publisher::{Publisher, swap};
use crate::situation::Situation;

/// The name of the configuration in diagnostics.
const NAME: &str = "crawlpike.json";

/// A world, and its configuration as a fetcher reads it.
pub struct World {
    /// By the numbers of their feeds.
    pub(crate) publishers: Vec<Publisher>,
    /// The feeds, for the fetcher.
    pub(crate) subscriptions: Subscriptions,
    /// The number of days.
    pub(crate) days: usize,
    document: String,
}

/// The settings of a world.
#[derive(Clone, Debug)]
pub struct Settings<'s> {
    /// The seed of all that is drawn.
    pub seed: u64,
    /// The number of days.
    pub days: usize,
    /// The situations of publishers, for each in turn; two of each follow each other.
    pub situations: &'s [Situation],
    /// The number of publishers.
    pub publishers: u32,
    /// The `guard` of all feeds, in JSON.
    pub guard: &'s str,
}

impl World {
    /// Lets all publishers live through their days.
    pub fn new(settings: &Settings<'_>) -> Self {
        let Settings { seed, days, situations, publishers: count, guard } = *settings;
        let mut rng = Rng::with_seed(seed);
        let mut publishers: Vec<Publisher> = Vec::new();
        for number in 0..count {
            let situation = situations[(number as usize / 2) % situations.len()];
            let is_second = number % 2 == 1;
            let windows = match publishers.last() {
                // Two who swap do so at the same time.
                Some(last) if is_second => last.windows.clone(),
                _ => windows(situation, days, &mut rng),
            };
            publishers.push(Publisher::new(number, situation, windows, days, &mut rng));
            if let [.., one, other] = &mut publishers[..]
                && is_second
                && situation == Situation::Swaps
            {
                swap(one, other);
            }
        }
        let document = document(publishers.len(), guard);
        let subscriptions = Subscriptions::read(NAME, document.as_bytes(), &NoFiles);
        let subscriptions = subscriptions.unwrap_or_else(|errors| panic!("{errors:?}"));
        Self { publishers, subscriptions, days, document }
    }

    /// Compiles the configuration with an edge's files.
    pub(crate) fn compile(&self, folder: &Folder<'_>) -> Ruleset {
        let compiled = Ruleset::compile(NAME, self.document.as_bytes(), folder);
        compiled.ruleset.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
    }
}

/// The token of a publisher's crawler.
pub(crate) fn token(publisher: usize) -> String {
    format!("Bot{publisher}")
}

fn document(feeds: usize, guard: &str) -> String {
    let mut text = r#"{ "mode": "enforce", "catalog": "none", "sites": [ {} ], "feeds": ["#.to_owned();
    for feed in 0..feeds {
        let comma = if feed == 0 { "" } else { "," };
        let _ = write!(
            text,
            r#"{comma} {{ "name": "{feed}", "format": "jafar", "source": "{feed}", "url": "https://{feed}.example/", "max_age": "7d", "guard": {guard} }}"#
        );
    }
    text += r#"], "agents": ["#;
    for feed in 0..feeds {
        let (comma, token) = (if feed == 0 { "" } else { "," }, token(feed));
        let _ = write!(text, r#"{comma} {{ "token": "{token}", "feeds": ["{feed}"] }}"#);
    }
    text + "] }"
}

/// The first day of a situation: after that, an old list is an old one.
const FIRST: usize = 10;

/// The days between two situations of a publisher, so that each finds it as it should be.
const BETWEEN: usize = 60;

fn windows(situation: Situation, days: usize, rng: &mut Rng) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    let mut start = FIRST + rng.usize(0..5);
    while start + situation.days() <= days {
        windows.push(start..start + situation.days());
        start += situation.days() + BETWEEN + rng.usize(0..20);
        if situation == Situation::Grows {
            break;
        }
    }
    windows
}
