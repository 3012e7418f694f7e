//! A registry for images and charts: Debian's package of the Docker registry.

use std::net::TcpStream;
use std::process::Command;

use crate::nginx::{Folder, local};
use crate::ports::free_port;
use crate::process::Server;

/// A running, empty registry at a port of loopback, without TLS.
#[derive(Debug)]
pub struct Registry {
    // Before the folder, so that the registry is gone when its files go.
    _server: Server,
    _folder: Folder,
    port: u16,
}

impl Registry {
    /// Starts it.
    ///
    /// # Panics
    ///
    /// If it is not installed.
    pub fn start() -> Self {
        let (folder, port) = (Folder::new(), free_port());
        let root = folder.path().join("images").display().to_string();
        let configuration = folder.write(
            "config.yml",
            format!(
                "version: 0.1\nstorage: {{ filesystem: {{ rootdirectory: {root} }} }}\nhttp: {{ addr: 127.0.0.1:{port} }}\n"
            ),
        );
        let mut command = Command::new("docker-registry");
        command.arg("serve").arg(configuration);
        let mut server = Server::start("docker-registry", &mut command, &folder.path().join("log"), &[]);
        server.wait_until("the registry", || TcpStream::connect(local(port)).ok());
        Self { _server: server, _folder: folder, port }
    }

    /// `HOST:PORT`, to which the name of an image or a chart is appended.
    pub fn address(&self) -> String {
        local(self.port).to_string()
    }
}
