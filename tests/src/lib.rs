//! The harness of Crawlpike's tests: real servers on free ports, a client that sends exact bytes, and the table of
//! cases that every way into Crawlpike must answer alike.
//!
//! `cases/*.json` is the table, [`runners`] are the ways in, [`verdict`] says what is wrong with their answers. What
//! is special to a server is tested in `tests/nginx` and `tests/envoy`, with [`nginx`], [`envoy`], [`http`] and
//! [`load`].

pub mod access_log;
pub mod artefacts;
pub mod cases;
pub mod dns;
pub mod envoy;
pub mod exposition;
pub mod faults;
pub mod http;
pub mod lab;
pub mod large;
pub mod load;
pub mod manifests;
mod many_sites;
pub mod name_lab;
pub mod names;
pub mod nginx;
pub mod origin;
pub mod page_origin;
pub mod pages;
pub mod ports;
pub mod proc;
pub mod process;
pub mod publisher;
pub mod random_requests;
pub mod rate_limit_service;
pub mod registry;
pub mod reloads;
pub mod replacements;
pub mod runners;
pub mod serve;
pub mod serving;
pub mod sign;
pub mod sources;
pub mod swarm;
pub mod tls;
pub mod verdict;
pub mod watcher;
