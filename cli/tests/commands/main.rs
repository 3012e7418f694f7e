//! Runs the built program: every command, what it prints where, and its exit status.

mod aiwebindex;
mod begin;
mod compile;
mod envoy;
mod explain;
mod fixture;
mod lint;
mod lookup;
mod man;
mod private;
mod publish;
mod schema;
mod trace;
mod watch;
