//! What only a running Envoy can show. The decisions themselves are in the table of cases.

mod addresses;
mod binary;
mod compose;
mod damaged;
mod discovery;
mod examples;
mod filter_state;
mod host_calls;
mod image;
mod manifests;
mod metrics;
mod protocols;
mod redirects;
mod refusals;
mod requests;
mod robots_tag;
mod served;
mod tunnels;
mod update;
mod watch;
