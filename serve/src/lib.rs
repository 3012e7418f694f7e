//! Crawlpike as a server that other proxies ask, with the decisions of the gates: forward-auth over HTTP, and Envoy's
//! `envoy.service.auth.v3.Authorization`.
//!
//! No policy belongs here. From the bottom up: [`http_1`] reads questions over HTTP, [`dialect`] finds out which request a proxy asks
//! about, [`check`] decides as the gates of Envoy do, [`forward`] and [`grpc`] make the answer, [`listen`] has the connections, and [`run`] ties them to the process.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

mod address;
mod admin;
mod check;
pub mod dialect;
#[cfg(test)]
mod draws;
mod forward;
mod gate;
mod grpc;
mod http_1;
mod listen;
pub mod messages;
mod names;
mod source;
mod trust;
mod unclear;

use std::io;
use std::panic;
use std::path::PathBuf;
use std::process;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::timeout;

pub use address::Address;
use address::passed;
use dialect::Dialect;
use gate::Gate;
use listen::Role;
pub use names::NameServer;
use names::Names;
use source::{Source, say};
pub use trust::Trust;
pub use unclear::Unclear;

/// The longest time that the server takes to end.
const END_TIME: Duration = Duration::from_secs(15);

/// The exit status of a server that cannot begin.
const UNUSABLE: i32 = 2;

/// The settings of the server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The configuration document, or a compiled ruleset.
    pub config: PathBuf,
    /// The address for forward-auth.
    pub http: Option<Address>,
    /// The address for gRPC.
    pub grpc: Option<Address>,
    /// The address of its administration.
    pub admin: Option<Address>,
    /// The dialect of all questions over HTTP. `None`: each question shows its own.
    pub dialect: Option<&'static Dialect>,
    /// The peers that may ask.
    pub trust: Trust,
    /// The resolver that is asked for the names of addresses. `None`: nobody is.
    pub names: Option<NameServer>,
}

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
///
/// The reason that it cannot begin; empty if the log has it.
pub fn run(settings: Settings) -> Result<(), String> {
    let source = Source::load(&settings.config).ok_or_else(String::new)?;
    allow_files();
    let runtime = runtime()?;
    runtime.block_on(serve(settings, source))
}

/// The threads that answer. tokio panics if one cannot be started, and then waits for ever for those that have been; so the process
/// ends before that.
fn runtime() -> Result<Runtime, String> {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(|panic| {
        let why = panic.payload().downcast_ref().map_or("a thread cannot be started", String::as_str);
        say(format_args!("crawlpike: error: {why}"));
        process::exit(UNUSABLE);
    }));
    let runtime = Runtime::new().map_err(|error| error.to_string());
    panic::set_hook(usual);
    runtime
}

/// Raises the limit of open files as far as it may be raised: by default it is below the limit of connections.
fn allow_files() {
    let limit = getrlimit(Resource::Nofile);
    // Otherwise the limit stays, and the log says when a connection cannot be accepted.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

async fn serve(settings: Settings, source: Source) -> Result<(), String> {
    // Whoever sees that it listens may send one.
    let signals = Signals::new().map_err(|error| error.to_string())?;
    let names = settings.names.map(Names::new).transpose();
    let names = names.map_err(|error| format!("the resolver cannot be used: {error}"))?;
    let Settings { trust, dialect, .. } = settings;
    let gate = Arc::new(Gate { source, trust, dialect, names, is_ending: AtomicBool::new(false) });
    let mut passed = passed().map_err(|error| error.to_string())?;
    let (end, ends) = watch::channel(false);
    let roles = [
        (Role::Http, "http", &settings.http),
        (Role::Grpc, "grpc", &settings.grpc),
        (Role::Admin, "admin", &settings.admin),
    ];
    for (role, name, address) in roles {
        let Some(address) = address else { continue };
        let listeners = address::listen(address, name, &mut passed);
        for listener in listeners.map_err(|error| format!("--{name}: cannot listen: {error}"))? {
            tokio::spawn(listen::accept(listener, role, Arc::clone(&gate), ends.clone()));
        }
    }
    drop(ends);
    let (reload, asked) = sync_channel(1);
    let watched = Arc::clone(&gate);
    let watcher = thread::Builder::new().name("crawlpike-watch".into());
    let watcher = watcher.spawn(move || watched.source.watch(&asked));
    watcher.map_err(|error| format!("cannot start a thread: {error}"))?;
    say("crawlpike: serving");
    signals.follow(&reload).await;
    gate.is_ending.store(true, Relaxed);
    end.send_replace(true);
    // All connections are done when nobody listens to the end any more.
    let _ = timeout(END_TIME, end.closed()).await;
    Ok(())
}

/// The signals of the process, from when they are first wanted.
struct Signals {
    reload: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            reload: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Asks for a reload at each SIGHUP, until SIGTERM or SIGINT.
    async fn follow(mut self, reload: &SyncSender<()>) {
        loop {
            tokio::select! {
                // If one is asked for already, that is enough.
                _ = self.reload.recv() => drop(reload.try_send(())),
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
            }
        }
    }
}
