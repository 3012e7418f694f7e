//! `crawlpike update` against real HTTPS servers on loopback, which answer whatever publishers may.

mod answers;
mod connections;
mod directories;
mod disturbed;
mod fetching;
mod fixture;
mod many;
mod policies;
mod told;
mod watching;
