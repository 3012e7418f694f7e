//! Connections: how many, how long, and how much each may send.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::address::{Connection, Listener};
use crate::gate::Gate;
use crate::http_1::{Head, Http1, Reply};
use crate::unclear::Unclear;
use crate::{admin, forward, grpc};

/// The most connections of proxies, of peers that may not ask, and for the administration: whoever watches the server is seldom a proxy,
/// and is answered whatever strangers do.
const MOST_CONNECTIONS: usize = 16_384;
const MOST_STRANGERS: usize = 64;
const MOST_ADMIN: usize = 64;

/// The time for the head of the first request, and for a peer to take an answer. The same is the time for what remains when the connection
/// is to end.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// The time for what a peer still sends after its last answer.
const REST_TIME: Duration = Duration::from_secs(2);

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
static ADMIN: Semaphore = Semaphore::const_new(MOST_ADMIN);

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
    let room = match role {
        Role::Admin => &ADMIN,
        _ if may_ask => &CONNECTIONS,
        _ => &STRANGERS,
    };
    let Ok(place) = room.try_acquire() else {
        return gate.source.note_error(&"too many connections; the newest is closed");
    };
    let (gate, end) = (Arc::clone(gate), end.clone());
    tokio::spawn(async move {
        match connection {
            Connection::Tcp(stream) => serve(stream, may_ask, role, gate, end).await,
            Connection::Unix(stream) => serve(stream, may_ask, role, gate, end).await,
        }
        drop(place);
    });
}

async fn serve<I>(io: I, may_ask: bool, role: Role, gate: Arc<Gate>, end: watch::Receiver<bool>)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    match role {
        Role::Grpc => serve_grpc(io, may_ask, gate, end).await,
        Role::Http | Role::Admin => serve_http(io, may_ask, role, &gate, end).await,
    }
}

/// Answers one request after the other, as long as they come. A peer that may not ask has one.
async fn serve_http(
    io: impl AsyncRead + AsyncWrite + Unpin,
    may_ask: bool,
    role: Role,
    gate: &Gate,
    mut end: watch::Receiver<bool>,
) {
    let mut http = Http1::new(io);
    let mut is_ending = false;
    // Before its first request, a peer has no more time than for a head.
    let mut time = HEAD_TIME;
    let mut is_last = false;
    while !is_last {
        let read = tokio::select! {
            read = timeout(time, http.head()) => read,
            _ = end.wait_for(|is_ending| *is_ending), if !is_ending => {
                if http.is_idle() {
                    return;
                }
                (is_ending, time) = (true, HEAD_TIME);
                continue;
            }
        };
        let Ok(Some(mut bytes)) = read else { return };
        let head = bytes.as_mut().map_err(|why| *why).and_then(|bytes| Head::read(bytes));
        let reply = answer(gate, may_ask, role, head.as_ref().map_err(|why| *why)).await;
        let is_to_head = head.as_ref().is_ok_and(|head| head.method == b"HEAD");
        is_last = !may_ask || head.map_or(true, |head| head.is_last) || *end.borrow() && http.is_idle();
        let sent = timeout(HEAD_TIME, http.send(&reply, !is_to_head, is_last)).await;
        if !matches!(sent, Ok(Ok(()))) {
            return;
        }
        time = if is_ending { HEAD_TIME } else { IDLE_TIME };
    }
    let _ = timeout(REST_TIME, http.close()).await;
}

async fn answer(gate: &Gate, may_ask: bool, role: Role, head: Result<&Head<'_>, Unclear>) -> Reply {
    match role {
        Role::Admin => admin::answer(gate, head),
        Role::Http | Role::Grpc => forward::answer(gate, may_ask, head).await,
    }
}

/// Answers calls as long as they come, and the server lasts. A peer that may not ask has no more time than for a head.
async fn serve_grpc<I>(io: I, may_ask: bool, gate: Arc<Gate>, mut end: watch::Receiver<bool>)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    // Of the calls that have begun.
    let begun = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&begun);
    let service = service_fn(move |call: Request<Incoming>| {
        counted.fetch_add(1, Relaxed);
        let gate = Arc::clone(&gate);
        async move { Ok::<_, Infallible>(grpc::answer(gate, may_ask, call).await) }
    });
    let mut connection = pin!(HTTP_2.serve_connection(TokioIo::new(io), service));
    let (mut seen, mut time) = (0, HEAD_TIME);
    loop {
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = end.wait_for(|is_ending| *is_ending) => break,
            () = sleep(time) => {
                let now = begun.load(Relaxed);
                if now == seen || !may_ask {
                    break;
                }
                (seen, time) = (now, IDLE_TIME);
            }
        }
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(HEAD_TIME, connection).await;
}
