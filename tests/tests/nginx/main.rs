//! Behaviour that only a running nginx can show. The decisions themselves are in the table of cases.

mod addresses;
mod answered_before;
mod configuration;
mod denials;
mod directives;
mod documents;
mod examples;
mod feed_states;
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
mod signature_budget;
mod tiers;
mod update;
mod variables;
