//! `empty-authz SOCKET`: a server of `envoy.service.auth.v3.Authorization` that reads a question and permits the request.

use std::convert::Infallible;
use std::env;
use std::io;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::UnixListener;

/// A `CheckResponse` with the status OK, as a message of gRPC.
const PERMITTED: &[u8] = &[0, 0, 0, 0, 2, 0x0a, 0];

#[tokio::main]
async fn main() -> io::Result<()> {
    let path = env::args_os().nth(1).ok_or_else(|| io::Error::other("usage: empty-authz SOCKET"))?;
    let listener = UnixListener::bind(path)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let connection = http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), service_fn(answer));
        tokio::spawn(connection);
    }
}

async fn answer(
    question: Request<Incoming>,
) -> hyper::Result<Response<impl Body<Data = Bytes, Error = Infallible>>> {
    question.into_body().collect().await?;
    let mut status = HeaderMap::new();
    status.insert("grpc-status", HeaderValue::from_static("0"));
    let body = Full::new(Bytes::from_static(PERMITTED)).with_trailers(async move { Some(Ok(status)) });
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    Ok(response)
}
