//! `crawlward update` against real HTTPS servers on loopback, which answer whatever publishers may.

mod answers;
mod connections;
mod disturbed;
mod fetching;
mod fixture;
mod many;
mod told;
mod watching;
