//! `crawlpike update` against real HTTPS servers on loopback, which answer whatever publishers may.

mod answers;
mod connections;
mod directories;
mod disturbed;
#[path = "../shared/done.rs"]
mod done;
mod fetching;
mod fixture;
mod namespace;
mod notifying;
mod policies;
mod tables;
mod watching;
