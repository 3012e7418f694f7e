//! `crawlpike serve`, and the proxies that ask it.

mod examples;
mod life;
mod limits;
mod load;
mod names;
