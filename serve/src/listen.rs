//! Connections: how many, how long, and how much each may send.

use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::address::{Connection, Listener};
use crate::gate::Gate;
use crate::{admin, forward, grpc};

/// The most connections of proxies, and of peers that may not ask.
const MOST_CONNECTIONS: usize = 16_384;
const MOST_STRANGERS: usize = 64;

/// The largest head of a request, in bytes and lines. Proxies let a client send less.
const MOST_HEAD: usize = 128 << 10;
const MOST_LINES: usize = 256;

/// The time for the head of the first request. The same is the time for what remains when the connection is to end.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// A connection without a new request for so long is closed. It is longer than proxies keep idle connections, so that none is closed while
/// a request comes.
const IDLE_TIME: Duration = Duration::from_secs(300);

/// The most requests at once on a connection of HTTP/2, and those that are reset before they are accepted.
const MOST_STREAMS: u32 = 1024;
const MOST_RESETS: usize = 128;

/// The time before the next try if no connection can be accepted, as without file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// The requests that a listener takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Http,
    Grpc,
    Admin,
}

/// The bounds that all listeners share.
static CONNECTIONS: Semaphore = Semaphore::const_new(MOST_CONNECTIONS);
static STRANGERS: Semaphore = Semaphore::const_new(MOST_STRANGERS);

static HTTP_1: LazyLock<http1::Builder> = LazyLock::new(|| {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(IDLE_TIME);
    builder.max_headers(MOST_LINES).max_buf_size(MOST_HEAD);
    // Whoever has closed his side after a question still gets its answer.
    builder.half_close(true);
    builder
});

static HTTP_2: LazyLock<http2::Builder<TokioExecutor>> = LazyLock::new(|| {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.timer(TokioTimer::new()).keep_alive_interval(HEAD_TIME * 3).keep_alive_timeout(HEAD_TIME);
    builder.max_concurrent_streams(MOST_STREAMS).max_pending_accept_reset_streams(MOST_RESETS);
    // The request that is asked about is in the body.
    builder.max_header_list_size(16 << 10);
    builder
});

/// Accepts connections until the server is to end. Each holds a copy of `end` until it is done.
pub(crate) async fn accept(listener: Listener, role: Role, gate: Arc<Gate>, mut end: watch::Receiver<bool>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = end.wait_for(|is_ending| *is_ending) => return,
        };
        match accepted {
            Ok((connection, peer)) => start(connection, peer, role, &gate, &end),
            Err(error) => {
                gate.source.note_error(&format_args!("cannot accept a connection: {error}"));
                sleep(PAUSE).await;
            }
        }
    }
}

/// Serves a connection in a task of its own, if there is room for it.
fn start(
    connection: Connection,
    peer: Option<IpAddr>,
    role: Role,
    gate: &Arc<Gate>,
    end: &watch::Receiver<bool>,
) {
    let may_ask = peer.is_none_or(|peer| gate.trust.covers(peer));
    let room = if may_ask { &CONNECTIONS } else { &STRANGERS };
    let Ok(place) = room.try_acquire() else {
        return gate.source.note_error(&"too many connections; the newest is closed");
    };
    let (gate, end) = (Arc::clone(gate), end.clone());
    tokio::spawn(async move {
        match connection {
            Connection::Tcp(stream) => serve(TokioIo::new(stream), may_ask, role, gate, end).await,
            Connection::Unix(stream) => serve(TokioIo::new(stream), may_ask, role, gate, end).await,
        }
        drop(place);
    });
}

async fn serve<I>(io: I, may_ask: bool, role: Role, gate: Arc<Gate>, end: watch::Receiver<bool>)
where
    I: Read + Write + Unpin + Send + 'static,
{
    // Of the requests that have begun.
    let begun = Arc::new(AtomicU64::new(0));
    if role == Role::Grpc {
        let seen = Arc::clone(&begun);
        let service = service_fn(move |call: Request<Incoming>| {
            seen.fetch_add(1, Relaxed);
            let gate = Arc::clone(&gate);
            async move { Ok::<_, Infallible>(grpc::answer(gate, may_ask, call).await) }
        });
        let connection = pin!(HTTP_2.serve_connection(io, service));
        return last(connection, http2::Connection::graceful_shutdown, &begun, end).await;
    }
    let seen = Arc::clone(&begun);
    let service = service_fn(move |request: Request<Incoming>| {
        seen.fetch_add(1, Relaxed);
        let gate = Arc::clone(&gate);
        async move { Ok::<_, Infallible>(answer(&gate, may_ask, role, request).await) }
    });
    let connection = pin!(HTTP_1.serve_connection(io, service));
    last(connection, http1::Connection::graceful_shutdown, &begun, end).await;
}

async fn answer(gate: &Gate, may_ask: bool, role: Role, request: Request<Incoming>) -> Response<Full<Bytes>> {
    // Proxies send no body; what there is of it is left to hyper, which closes the connection.
    let (head, _) = request.into_parts();
    match role {
        Role::Admin => admin::answer(gate, &head),
        Role::Http | Role::Grpc => forward::answer(gate, may_ask, &head).await,
    }
}

/// Lets a connection last as long as requests come, and the server. `finish` has it end after the requests that have begun.
async fn last<C: Future>(
    mut connection: Pin<&mut C>,
    finish: impl FnOnce(Pin<&mut C>),
    begun: &AtomicU64,
    mut end: watch::Receiver<bool>,
) {
    // Before its first request, a peer has no more time than for a head.
    let (mut seen, mut time) = (0, HEAD_TIME);
    loop {
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = end.wait_for(|is_ending| *is_ending) => break,
            () = sleep(time) => {
                let now = begun.load(Relaxed);
                if now == seen {
                    break;
                }
                (seen, time) = (now, IDLE_TIME);
            }
        }
    }
    finish(connection.as_mut());
    let _ = timeout(HEAD_TIME, connection).await;
}
