//! A year of publishers that err, and of many edges that update their feeds: the share of genuine crawlers that is denied, and of
//! impostors that are verified.
//!
//! Time is a number here. The reader, the guard, the choice of versions and the decision are those of `crawlpike-core`; an edge keeps
//! its files in memory, as `crawlpike update` keeps them beside the configuration. All that is drawn comes from a seed.

mod answer;
mod copy;
mod day;
mod edge;
mod file;
mod life;
mod profile;
mod publisher;
mod run;
mod situation;
mod sweep;
mod table;
mod tally;
mod time;
mod world;

pub use profile::{Profile, REACTIONS};
pub use run::{profiles, run};
pub use situation::{SITUATIONS, Situation, WAYS, Way};
pub use sweep::{Results, sweep};
pub use table::{REPLACE, SHRINK, limits, situations};
pub use tally::{Cell, Client, Count, Row, Tally, percent};
pub use world::{Settings, World};
