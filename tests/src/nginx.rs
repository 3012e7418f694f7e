//! nginx processes with configurations made for one test.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Signal, geteuid};
use tempfile::TempDir;

use crate::artefacts;
use crate::http::{self, Request, Response};
use crate::process::{Server, program, wait_for};

/// A folder for a server's configuration, feeds and logs; it goes with its owner.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Folder {
    /// An empty one.
    ///
    /// # Panics
    ///
    /// If the machine lets nobody write temporary files.
    pub fn new() -> Self {
        Self(tempfile::Builder::new().prefix("crawlpike-").tempdir().expect("a temporary folder"))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file, replacing it at once as `mv` does, so that no server reads half of it.
    ///
    /// # Panics
    ///
    /// If the disk is full.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        let new = self.path().join(format!("{name}.new"));
        fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a folder of ours");
        fs::write(&new, content).expect("a file in a folder of ours");
        fs::rename(&new, &path).expect("a file in a folder of ours");
        path
    }

    /// Removes a file or an empty folder, and puts in its place what need be no file.
    ///
    /// # Panics
    ///
    /// If it is not there.
    pub fn remake(&self, name: &str, make: impl FnOnce(&Path) -> io::Result<()>) {
        let path = self.path().join(name);
        let removed = if path.is_dir() { fs::remove_dir(&path) } else { fs::remove_file(&path) };
        removed.and_then(|()| make(&path)).expect("a folder of ours");
    }

    /// Copies the files in a folder of the repository to the same place below this one: a gate keeps last good versions
    /// of feeds beside them, which have no business in the repository.
    ///
    /// # Panics
    ///
    /// If there is no such folder, or the disk is full.
    pub fn copy_of_repository(&self, folder: &str) {
        let from = artefacts::repository().join(folder);
        for entry in fs::read_dir(&from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
            let path = entry.expect("a readable folder").path();
            if path.is_file() {
                let name = path.file_name().expect("a name").to_string_lossy();
                self.write(&format!("{folder}/{name}"), fs::read(&path).expect("a readable file"));
            }
        }
    }

    /// Puts a pipe in the place of a file.
    ///
    /// # Panics
    ///
    /// If there is no such file.
    pub fn make_pipe(&self, name: &str) {
        self.remake(name, |path| Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?));
    }

    /// A file's text; empty where it is not there yet.
    pub fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.path().join(name)).unwrap_or_default()).into_owned()
    }

    /// The lines of a log that are written to their end.
    pub fn lines(&self, log: &str) -> Vec<String> {
        let text = self.read(log);
        // A line that crosses a page of the file is seen in two steps.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(str::to_owned).collect()
    }

    /// Waits until a log has a line with the text, and gives that line.
    ///
    /// # Panics
    ///
    /// If none comes.
    pub fn wait_for_line(&self, log: &str, text: &str) -> String {
        wait_for(&format!("{text:?} in {log}"), || {
            self.lines(log).into_iter().find(|line| line.contains(text))
        })
    }

    /// Leaves the folder when the process ends.
    pub fn keep(&mut self) {
        self.0.disable_cleanup(true);
    }
}

/// The one that fits nginx's C library, which `LIBC` names, as in `make nginx-matrix`.
pub fn by_libc<T>(glibc: T, musl: T) -> T {
    if env::var_os("LIBC").is_some_and(|name| name == "musl") { musl } else { glibc }
}

/// The words of nginx's C library for a symbolic link to itself.
pub fn link_loop() -> &'static str {
    by_libc("Too many levels of symbolic links", "Symbolic link loop")
}

/// The configuration of an nginx outside its `http` block.
#[derive(Clone, Debug)]
pub struct Setup {
    /// True if it has our module.
    pub with_module: bool,
    /// Worker processes.
    pub workers: usize,
    /// More directives of the main context, each with its `;`.
    pub main: String,
    /// The command that runs it, with arguments, such as valgrind; empty: none.
    pub under: Vec<String>,
}

impl Default for Setup {
    /// With the module and two workers.
    fn default() -> Self {
        Self { with_module: true, workers: 2, main: String::new(), under: Vec::new() }
    }
}

/// A running nginx with its folder.
#[derive(Debug)]
pub struct Nginx {
    // Before the folder, so that nginx is gone when its files go.
    server: Server,
    folder: Folder,
    setup: Setup,
}

impl Nginx {
    /// Starts nginx with the module and this text in its `http` block. Paths in it are relative to the folder.
    pub fn start(folder: Folder, http: &str) -> Self {
        Self::set_up(folder, http, Setup::default())
    }

    /// Starts nginx without the module.
    pub fn without_module(folder: Folder, http: &str) -> Self {
        Self::set_up(folder, http, Setup { with_module: false, ..Setup::default() })
    }

    /// The output of `nginx -t` for this text in the `http` block, within half a minute.
    ///
    /// # Panics
    ///
    /// If nginx can't be started.
    pub fn check(folder: &Folder, http: &str) -> Output {
        Self::check_setup(folder, http, &Setup::default())
    }

    /// As [`Self::check`], with another setup.
    pub fn check_setup(folder: &Folder, http: &str, setup: &Setup) -> Output {
        folder.write("nginx.conf", setup.configuration(http));
        fs::create_dir_all(folder.path().join("tmp")).expect("a folder of ours");
        let under: Vec<&str> =
            ["timeout", "30"].into_iter().chain(setup.under.iter().map(String::as_str)).collect();
        command(&under, folder.path()).arg("-t").output().expect("nginx can be started")
    }

    /// Starts nginx with this text in its `http` block.
    pub fn set_up(folder: Folder, http: &str, setup: Setup) -> Self {
        folder.write("nginx.conf", setup.configuration(http));
        fs::create_dir_all(folder.path().join("tmp")).expect("a folder of ours");
        let error_log = folder.path().join("error.log");
        let under: Vec<&str> = setup.under.iter().map(String::as_str).collect();
        let mut server = Server::start(
            "nginx",
            &mut command(&under, folder.path()),
            &folder.path().join("stderr.log"),
            &[error_log],
        );
        // Its sockets are bound then: what connects from now on waits for a worker. And it waits for signals: one that
        // came earlier would be looked at only when the next one comes.
        server.wait_until("nginx's start", || {
            let waits = folder.read("error.log").contains("start worker process ")
                || setup.main.contains("master_process off");
            (waits && !folder.read("nginx.pid").is_empty()).then_some(())
        });
        Self { server, folder, setup }
    }

    /// The folder with its configuration and logs.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Asks nginx to read its configuration again. It does so in its own time.
    pub fn reload(&self) {
        self.server.signal(Signal::HUP);
    }

    /// Runs `nginx -s`, which signals the running one to `stop`, `quit`, `reopen` or `reload`.
    ///
    /// # Panics
    ///
    /// If nginx can't be started.
    pub fn control(&self, what: &str) -> Output {
        command(&[], self.folder.path()).args(["-s", what]).output().expect("nginx can be started")
    }

    /// Replaces the text in the `http` block, for the next reload.
    pub fn rewrite(&self, http: &str) {
        self.folder.write("nginx.conf", self.setup.configuration(http));
    }

    /// Waits until a line of a log contains a text, and gives the line.
    pub fn wait_for_line(&self, log: &str, text: &str) -> String {
        self.folder.wait_for_line(log, text)
    }

    /// The master process.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// See [`Server::leave_running`].
    pub fn leave_running(&mut self) {
        self.server.leave_running();
        self.folder.keep();
    }
}

/// A port's address on 127.0.0.1.
pub fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// The response of a server on 127.0.0.1 that has to answer.
///
/// # Panics
///
/// If it does not.
pub fn ask(port: u16, request: &Request) -> Response {
    http::send(local(port), request).unwrap_or_else(|error| panic!("{error}: {request:?}"))
}

fn command(under: &[&str], prefix: &Path) -> Command {
    let mut command = program(under, artefacts::nginx());
    command.arg("-p").arg(prefix).arg("-c").arg(prefix.join("nginx.conf")).args(["-e", "error.log"]);
    command
}

impl Setup {
    /// A whole nginx.conf. Everything that nginx writes goes below its prefix.
    fn configuration(&self, http: &str) -> String {
        let mut text = String::new();
        if self.with_module {
            let _ = writeln!(text, "load_module {};", artefacts::nginx_module().display());
        }
        // Workers of another user could not open files in our folder, unless the test sees to that.
        if geteuid().is_root() && !self.main.starts_with("user ") {
            text.push_str("user root root;\n");
        }
        let _ = writeln!(text, "worker_processes {};\n{}", self.workers, self.main);
        text.push_str(
            "daemon off;
pid nginx.pid;
error_log error.log notice;
events { worker_connections 512; }
http {
    access_log off;
    client_body_temp_path tmp/body;
    proxy_temp_path tmp/proxy;
    fastcgi_temp_path tmp/fastcgi;
    uwsgi_temp_path tmp/uwsgi;
    scgi_temp_path tmp/scgi;
",
        );
        text.push_str(http);
        text.push_str("\n}\n");
        text
    }
}
