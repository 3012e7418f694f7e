//! Behaviour that only a running nginx can show. The decisions themselves are in the table of cases.

mod addresses;
mod answered_before;
mod configuration;
mod denials;
mod directives;
mod documents;
mod examples;
mod exempt;
mod feed_states;
mod floods;
mod headers;
mod measures;
mod memory;
mod modes;
mod names;
mod protocols;
mod redirects;
mod refresh;
mod refused;
mod reload;
mod robots_tag;
mod served;
mod signals;
mod tiers;
mod update;
mod variables;
