//! `make test-docker`: the images of `docker/`, compose.yaml and the Debian package in real containers, on networks of their
//! own. Clients, publishers and origins have addresses that are reserved for documentation.

mod clock;
mod compose;
mod context;
mod cuts;
mod engine;
mod feeds;
mod folder;
mod kills;
mod many;
mod package;
mod registry;
mod world;
