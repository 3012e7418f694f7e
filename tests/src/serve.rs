//! `crawlpike serve`, as a process of one test, and the filter of Envoy that asks it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::artefacts;
use crate::http::{Connection, Request, Response};
use crate::nginx::{Folder, ask};
use crate::ports::free_port;
use crate::process::{Server, program};

/// The dynamic metadata in which Envoy's filter has the facts.
pub const METADATA: &str = "envoy.filters.http.ext_authz";

/// A running server, which listens on sockets in a folder.
#[derive(Debug)]
pub struct Serve {
    server: Server,
    http: PathBuf,
    grpc: PathBuf,
    admin: u16,
}

impl Serve {
    /// Starts it with a document, and with these arguments besides, and waits until it is ready. `name` distinguishes it from others
    /// in the folder.
    pub fn start(folder: &Folder, name: &str, config: &Path, arguments: &[&str]) -> Self {
        Self::start_under(&[], folder, name, config, arguments)
    }

    /// The same, run by a command such as `taskset`.
    pub fn start_under(
        under: &[&str],
        folder: &Folder,
        name: &str,
        config: &Path,
        arguments: &[&str],
    ) -> Self {
        let socket = |role: &str| folder.path().join(format!("{name}-{role}.sock"));
        let (http, grpc, admin) = (socket("http"), socket("grpc"), free_port());
        let mut command = program(under, artefacts::cli());
        command.arg("serve").arg("--config").arg(config).args(arguments);
        command.args(["--http", &format!("unix:{}", http.display())]);
        command.args(["--grpc", &format!("unix:{}", grpc.display())]);
        command.args(["--admin", &format!("127.0.0.1:{admin}")]);
        let log = folder.path().join(format!("{name}.log"));
        let mut server = Server::start("crawlpike serve", &mut command, &log, &[]);
        server.wait_until("it serves", || {
            let response = crate::http::send(crate::nginx::local(admin), &Request::get("/readyz")).ok()?;
            (response.status == 200).then_some(())
        });
        Self { server, http, grpc, admin }
    }

    /// The socket for forward-auth.
    pub fn http(&self) -> &Path {
        &self.http
    }

    /// The socket for gRPC.
    pub fn grpc(&self) -> &Path {
        &self.grpc
    }

    /// The process.
    pub fn server(&mut self) -> &mut Server {
        &mut self.server
    }

    /// A page of its administration.
    pub fn admin(&self, path: &str) -> Response {
        ask(self.admin, &Request::get(path))
    }

    /// The answer to a question over the socket for forward-auth.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn ask(&self, question: &Request) -> Response {
        let mut connection = Connection::open_unix(&self.http).expect("the server listens");
        connection.send(question).expect("an answer")
    }
}

/// The element of `http_filters` that asks a server by gRPC, by the cluster of this name.
pub fn filter(cluster: &str) -> Value {
    json!({
        "name": METADATA,
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
            "transport_api_version": "V3",
            "grpc_service": {
                "envoy_grpc": { "cluster_name": cluster },
                // Longer than an answer takes on a busy machine.
                "timeout": "60s",
                "initial_metadata": [
                    { "key": "x-real-ip", "value": "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%" },
                ],
            },
            // Without it, Envoy replaces bytes that are not UTF-8.
            "encode_raw_headers": true,
        },
    })
}

/// The cluster of a server, for Envoy.
pub fn cluster(name: &str, socket: &Path) -> Value {
    json!({
        "name": name,
        "type": "STATIC",
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                "explicit_http_config": { "http2_protocol_options": {} },
            },
        },
        "load_assignment": {
            "cluster_name": name,
            "endpoints": [{ "lb_endpoints": [{ "endpoint": { "address": { "pipe": { "path": socket } } } }] }],
        },
    })
}
