//! The container engine: images, networks and containers that end with their test.

use std::env;
use std::fmt::Display;
use std::fs;
use std::io::{self, Write as _};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::Instant;

use crawlpike_tests::artefacts;
use crawlpike_tests::nginx::Folder;
use crawlpike_tests::process::wait_for;

/// A command, finished, with what it printed.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        let status = output.status.code().unwrap_or(-1);
        Self { status, stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

/// Runs `docker` whatever it answers.
pub(crate) fn try_docker<S: AsRef<str>>(arguments: &[S]) -> Finished {
    let mut docker = Command::new("docker");
    // Not every client has BuildKit.
    docker.env("DOCKER_BUILDKIT", "0").args(arguments.iter().map(AsRef::as_ref));
    docker.output().expect("docker can be started").into()
}

/// Runs `docker`, which must succeed; gives what it printed.
pub(crate) fn docker<S: AsRef<str>>(arguments: &[S]) -> String {
    let words: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    let finished = try_docker(&words);
    assert_eq!(finished.status, 0, "docker {}: {}", words.join(" "), finished.stderr);
    finished.stdout
}

/// The images under test, built once for all tests of the program.
#[derive(Debug)]
pub(crate) struct Images {
    /// The base of the others: this machine's release.
    pub(crate) base: String,
    /// Stands in for Envoy's own image, which only a registry has.
    pub(crate) envoy_base: &'static str,
    pub(crate) nginx: &'static str,
    pub(crate) envoy: &'static str,
    pub(crate) cli: &'static str,
    /// curl, iproute2, strace and the command line, for clients.
    pub(crate) tools: &'static str,
    /// The image of nginx with libfaketime.
    pub(crate) clock: &'static str,
}

/// The images, which the first caller builds.
pub(crate) fn images() -> &'static Images {
    static IMAGES: OnceLock<Images> = OnceLock::new();
    IMAGES.get_or_init(|| {
        let script = artefacts::repository().join("packaging/docker/base");
        let made = Finished::from(Command::new(script).output().expect("packaging/docker/base"));
        assert_eq!(made.status, 0, "packaging/docker/base: {}", made.stderr);
        let images = Images {
            base: made.stdout,
            envoy_base: "crawlpike-test-envoy-base",
            nginx: "crawlpike-test-nginx",
            envoy: "crawlpike-test-envoy",
            cli: "crawlpike-test-cli",
            tools: "crawlpike-test-tools",
            clock: "crawlpike-test-clock",
        };
        // Someone who changes a test need not build them again.
        if env::var_os("CRAWLPIKE_IMAGES").is_some() {
            return images;
        }
        let context = Folder::new();
        fs::copy(artefacts::envoy(), context.path().join("envoy")).unwrap();
        context.write("Dockerfile", format!("FROM {}\nCOPY envoy /usr/local/bin/envoy\n", images.base));
        docker(&["build", "-q", "-t", images.envoy_base, &context.path().display().to_string()]);

        for (name, tag) in [("cli", images.cli), ("nginx", images.nginx), ("envoy", images.envoy)] {
            images.build(name, tag);
        }

        let base = format!("BASE={}", images.base);
        let tools = artefacts::repository().join("tests/docker/tools").display().to_string();
        docker(&["build", "-q", "-t", images.tools, "--build-arg", &base, &tools]);
        let nginx = format!("NGINX={}", images.nginx);
        let clock = artefacts::repository().join("tests/docker/clock").display().to_string();
        docker(&["build", "-q", "-t", images.clock, "--build-arg", &nginx, &clock]);
        images
    })
}

impl Images {
    /// Builds the image of docker/NAME/Dockerfile as its users do.
    pub(crate) fn build(&self, name: &str, tag: &str) {
        self.build_stage(name, "", tag);
    }

    /// The same up to a stage; empty: the last one.
    pub(crate) fn build_stage(&self, name: &str, stage: &str, tag: &str) {
        let start = Instant::now();
        let root = artefacts::repository();
        let file = root.join("packaging/docker").join(name).join("Dockerfile").display().to_string();
        let mut words = vec!["build", "-q", "-t", tag, "-f", &file];
        if !stage.is_empty() {
            words.extend(["--target", stage]);
        }
        let mut arguments = vec![("BASE", &*self.base), ("ARTEFACTS", artefacts_of_images())];
        if name == "envoy" {
            arguments.push(("ENVOY", self.envoy_base));
        }
        let arguments: Vec<String> =
            arguments.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        for argument in &arguments {
            words.extend(["--build-arg", argument]);
        }
        let root = root.display().to_string();
        words.push(&root);
        docker(&words);
        let _ = writeln!(
            io::stderr(),
            "docker build -f packaging/docker/{name}/Dockerfile: {} s",
            start.elapsed().as_secs()
        );
    }
}

/// The build argument ARTEFACTS: where the programs of the images come from.
pub(crate) fn artefacts_of_images() -> &'static str {
    static ARTEFACTS: OnceLock<String> = OnceLock::new();
    ARTEFACTS.get_or_init(|| env::var("ARTEFACTS").unwrap_or_else(|_| "dist".to_owned()))
}

/// A network that goes with its owner.
#[derive(Debug)]
pub(crate) struct Network(pub(crate) String);

impl Network {
    /// One with this IPv4 prefix and, if it is not empty, this IPv6 prefix.
    pub(crate) fn new(name: &str, ipv4: &str, ipv6: &str) -> Self {
        let name = format!("crawlpike-test-{name}");
        // The networks of an interrupted run would have the same prefix.
        try_docker(&["network", "rm", &name]);
        let mut words = vec!["network", "create", "--subnet", ipv4];
        if !ipv6.is_empty() {
            words.extend(["--ipv6", "--subnet", ipv6]);
        }
        words.push(&name);
        docker(&words);
        Self(name)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        try_docker(&["network", "rm", &self.0]);
    }
}

/// A volume that goes with its owner.
#[derive(Debug)]
pub(crate) struct Volume(pub(crate) String);

impl Volume {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("crawlpike-test-{name}");
        try_docker(&["volume", "rm", "--force", &name]);
        docker(&["volume", "create", &name]);
        Self(name)
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        try_docker(&["volume", "rm", "--force", &self.0]);
    }
}

/// A running container that goes with its owner. If the test fails, its log is printed then.
#[derive(Debug)]
pub(crate) struct Container(pub(crate) String);

impl Container {
    /// Starts one; the arguments are those of `docker run`, the image and its command included.
    pub(crate) fn run<S: Display>(name: &str, arguments: &[S]) -> Self {
        let name = format!("crawlpike-test-{name}");
        try_docker(&["rm", "--force", "--volumes", &name]);
        let mut words = vec!["run".to_owned(), "--detach".to_owned(), "--name".to_owned(), name.clone()];
        words.extend(arguments.iter().map(ToString::to_string));
        // Dropped where the start fails, too.
        let container = Self(name);
        docker(&words);
        container
    }

    /// Runs a command in it.
    pub(crate) fn exec(&self, command: &[&str]) -> Finished {
        try_docker(&[&["exec", &self.0], command].concat())
    }

    /// Its stdout and stderr.
    pub(crate) fn log(&self) -> String {
        let log = try_docker(&["logs", &self.0]);
        format!("{}\n{}", log.stdout, log.stderr)
    }

    /// Waits until its log has a line with all of these. Envoy writes its access log every ten seconds, and the engine has what
    /// a container writes a moment later.
    pub(crate) fn wait_for_log(&self, parts: &[&str]) {
        wait_for(&format!("a line of the log of {} with {parts:?}", self.0), || {
            self.log().lines().any(|line| parts.iter().all(|part| line.contains(part))).then_some(())
        });
    }

    pub(crate) fn signal(&self, signal: &str) {
        docker(&["kill", "--signal", signal, &self.0]);
    }

    /// A value of `docker inspect`.
    pub(crate) fn inspect(&self, format: &str) -> String {
        docker(&["inspect", "--format", format, &self.0])
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- {}\n{}", self.0, self.log());
        }
        try_docker(&["rm", "--force", "--volumes", &self.0]);
    }
}
