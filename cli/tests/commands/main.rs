//! Runs the built program: every command, what it prints where, and its exit status.

mod aiwebindex;
mod aiwebindex_verify;
mod begin;
mod compile;
mod completions;
mod doctor;
#[path = "../shared/done.rs"]
mod done;
mod envoy;
mod explain;
mod fixture;
mod import;
mod lint;
mod lookup;
mod man;
mod names;
mod private;
mod publish;
mod report;
mod schema;
mod sign;
mod trace;
mod usage;
mod watch;
