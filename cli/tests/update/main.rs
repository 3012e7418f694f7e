//! `crawlward update` against real HTTPS servers on loopback, which answer whatever publishers may.

mod fetching;
mod fixture;
