//! A server of `envoy.service.ratelimit.v3.RateLimitService`, as far as Envoy's reference server is needed: it counts each descriptor
//! in the memory of the test, in windows that do not end during one.

use std::collections::HashMap;
use std::future::{Ready, ready};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use tokio::net::TcpListener;
use tonic::server::{Grpc, UnaryService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

/// The path of the method.
const SHOULD_RATE_LIMIT: &str = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

/// Enough for each call of Envoy.
const STREAMS: u32 = 1024;

/// `envoy.service.ratelimit.v3.RateLimitRequest`
#[derive(Clone, PartialEq, Message)]
struct Question {
    #[prost(string, tag = "1")]
    domain: String,
    #[prost(message, repeated, tag = "2")]
    descriptors: Vec<Descriptor>,
}

/// `envoy.extensions.common.ratelimit.v3.RateLimitDescriptor`
#[derive(Clone, PartialEq, Eq, Hash, Message)]
struct Descriptor {
    #[prost(message, repeated, tag = "1")]
    entries: Vec<Entry>,
}

/// `envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry`
#[derive(Clone, PartialEq, Eq, Hash, Message)]
struct Entry {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// `envoy.service.ratelimit.v3.RateLimitResponse`
#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(enumeration = "Code", tag = "1")]
    overall_code: i32,
}

/// `envoy.service.ratelimit.v3.RateLimitResponse.Code`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
enum Code {
    Unknown = 0,
    Ok = 1,
    OverLimit = 2,
}

/// A running server, which ends with the test's process.
#[derive(Clone, Debug)]
pub struct RateLimitService {
    domain: &'static str,
    key: &'static str,
    most: u32,
    counts: Arc<Mutex<HashMap<Descriptor, u32>>>,
}

impl RateLimitService {
    /// Permits so many requests of each value of a descriptor with this key, and all others. Gives the port, too.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    pub fn start(domain: &'static str, key: &'static str, most: u32) -> (Self, u16) {
        let service = Self { domain, key, most, counts: Arc::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let answering = service.clone();
        thread::spawn(move || runtime.block_on(answering.serve(listener)));
        (service, port)
    }

    async fn serve(self, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            let service = self.clone();
            let answer = service_fn(move |call: hyper::Request<Incoming>| {
                let service = service.clone();
                async move {
                    assert_eq!(call.uri().path(), SHOULD_RATE_LIMIT);
                    Ok::<_, Status>(Grpc::new(ProstCodec::default()).unary(service, call).await)
                }
            });
            let mut http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            http.max_concurrent_streams(STREAMS);
            tokio::spawn(async move {
                // A connection ends with Envoy.
                let _ = http.serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    }

    /// The number of values that it has counted.
    pub fn values(&self) -> usize {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn code(&self, question: Question) -> Code {
        assert_eq!(question.domain, self.domain);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let limited = question.descriptors.into_iter();
        let limited =
            limited.filter(|descriptor| descriptor.entries.iter().any(|entry| entry.key == self.key));
        let over = limited.fold(false, |over, descriptor| {
            let count = counts.entry(descriptor).or_default();
            *count += 1;
            over | (*count > self.most)
        });
        if over { Code::OverLimit } else { Code::Ok }
    }
}

impl UnaryService<Question> for RateLimitService {
    type Response = Answer;
    type Future = Ready<Result<Response<Answer>, Status>>;

    fn call(&mut self, request: Request<Question>) -> Self::Future {
        ready(Ok(Response::new(Answer { overall_code: self.code(request.into_inner()).into() })))
    }
}
