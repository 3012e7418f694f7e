//! What only a running Envoy can show. The decisions themselves are in the table of cases.

mod binary;
mod discovery;
mod image;
mod metrics;
mod requests;
mod served;
mod watch;
