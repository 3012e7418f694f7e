//! `examples/envoy/compose` and `compose-native`, with real containers where an engine answers. No registry is asked: what the images begin
//! from is made of this machine's own release.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crawlpike_tests::artefacts;
use crawlpike_tests::http::{self, Request};
use crawlpike_tests::lab::{FIREFOX, from};
use crawlpike_tests::nginx::{Folder, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;

const ENVOY_IMAGE: &str = "crawlpike-test-envoy";

/// The services of an example, running; dropping it takes them and all that belongs to them away.
struct Composition {
    example: &'static str,
    policy: Folder,
    compose: &'static [&'static str],
    base: String,
    port: u16,
}

impl Composition {
    /// Runs a command of Compose in the example's project.
    fn run(&self, arguments: &[&str]) -> Output {
        let file =
            artefacts::repository().join("examples/envoy").join(self.example).join("docker-compose.yml");
        let mut command = Command::new(self.compose[0]);
        command.args(&self.compose[1..]).arg("-f").arg(file);
        command.args(["-p", &format!("crawlpike-test-{}", self.port)]).args(arguments);
        command.env("POLICY", self.policy.path()).env("PORT", self.port.to_string());
        command.env("BASE", &self.base).env("ENVOY_IMAGE", ENVOY_IMAGE);
        command.output().expect("Compose can be started")
    }

    /// The status for curl, from an address that is not a partner's.
    fn answers(&self, path: &str) -> Option<u16> {
        self.status("203.0.113.9", "curl/8", path)
    }

    fn status(&self, address: &str, agent: &str, path: &str) -> Option<u16> {
        let request = from(address, Request::get(path).agent(agent));
        Some(http::send(local(self.port), &request).ok()?.status)
    }

    fn wait_for(&self, status: u16, address: &str, agent: &str, path: &str) {
        wait_for(&format!("{status} for {agent} at {path}"), || {
            (self.status(address, agent, path) == Some(status)).then_some(())
        });
    }

    /// The log of a service, or with an empty name those of all.
    fn log(&self, service: &str) -> String {
        let services = if service.is_empty() { &[][..] } else { &[service] };
        let output = self.run(&[&["logs", "--no-color"], services].concat());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Composition {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.log(""));
        }
        self.run(&["down", "--volumes", "--rmi", "local", "--timeout", "10"]);
    }
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// The words that start Compose; `None` where there is no engine, or no Compose, or nothing to make a base of.
fn compose() -> Option<&'static [&'static str]> {
    if !succeeds("docker", &["version"]) {
        eprintln!("skipped: no Docker engine answers");
        return None;
    }
    let compose = [&["docker", "compose"][..], &["docker-compose"]]
        .into_iter()
        .find(|words| succeeds(words[0], &[&words[1..], &["version"]].concat()));
    if compose.is_none() || !succeeds("debootstrap", &["--version"]) {
        assert!(env::var_os("CI").is_none(), "CI has an engine, but not what `.ci/setup images` installs");
        eprintln!("skipped: `.ci/setup images` installs what is missing");
        return None;
    }
    compose
}

fn checked(what: &str, output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {stderr}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// An image with Envoy, in place of Envoy's own, which has to be fetched.
fn make_envoy_image(base: &str) {
    let context = Folder::new();
    context.write("Dockerfile", format!("FROM {base}\nCOPY envoy /usr/local/bin/envoy\n"));
    fs::copy(artefacts::envoy(), context.path().join("envoy")).unwrap();
    let mut build = Command::new("docker");
    build.args(["build", "-q", "-t", ENVOY_IMAGE]).arg(context.path());
    checked("docker build", &build.output().unwrap());
}

fn policy() -> Folder {
    let (folder, example) = (Folder::new(), artefacts::repository().join("examples/envoy"));
    for name in ["crawlpike.json", "partners.txt", "robots.txt"] {
        folder.write(name, fs::read(example.join(name)).unwrap());
    }
    folder
}

/// An example, whose services have started; `None` where there is no engine.
fn start(example: &'static str) -> Option<Composition> {
    let compose = compose()?;
    let script: &Path = &artefacts::repository().join("packaging/docker/base");
    let base = checked("packaging/docker/base", &Command::new(script).output().unwrap());
    make_envoy_image(&base);
    let gate = Composition { example, policy: policy(), compose, base, port: free_port() };
    checked("up", &gate.run(&["up", "--build", "--detach"]));
    Some(gate)
}

fn decides_and_follows_robots_txt(gate: &Composition) {
    gate.wait_for(200, "192.0.2.1", "PartnerBot/1.0", "/");
    gate.wait_for(403, "203.0.113.9", "PartnerBot/1.0", "/");
    assert_eq!((gate.answers("/"), gate.answers("/private/")), (Some(200), Some(403)));
    assert_eq!(gate.status("203.0.113.9", FIREFOX, "/private/"), Some(200));

    gate.policy.write("robots.txt", "User-agent: *\nDisallow: /drafts/\n");
    gate.wait_for(403, "203.0.113.9", "curl/8", "/drafts/");
    assert_eq!(gate.answers("/private/"), Some(200));
}

/// `service` is the one that logs why.
fn refuses_a_broken_document(gate: &Composition, service: &str) {
    gate.policy.write("crawlpike.json", "{ \"mode\": \"enforced\" }\n");
    wait_for("the refusal", || gate.log(service).contains("unknown value `enforced`").then_some(()));
    assert_eq!((gate.answers("/"), gate.answers("/drafts/")), (Some(200), Some(403)));
}

#[test]
fn the_native_module_decides_and_follows_changes() {
    let Some(gate) = start("compose-native") else { return };
    decides_and_follows_robots_txt(&gate);
    refuses_a_broken_document(&gate, "envoy");
}

#[test]
fn the_composition_decides_and_follows_changes() {
    let Some(gate) = start("compose") else { return };
    decides_and_follows_robots_txt(&gate);
    gate.policy.write("partners.txt", "192.0.2.0/24\n2001:db8::/32\n203.0.113.9\n");
    gate.wait_for(200, "203.0.113.9", "PartnerBot/1.0", "/");

    refuses_a_broken_document(&gate, "crawlpike");

    checked("stop", &gate.run(&["stop", "crawlpike"]));
    let id = checked("ps", &gate.run(&["ps", "-a", "-q", "crawlpike"]));
    let mut inspect = Command::new("docker");
    inspect.args(["inspect", "--format", "{{.State.ExitCode}}", &id]);
    assert_eq!(checked("inspect", &inspect.output().unwrap()), "0", "SIGTERM ends it at once");
    assert_eq!(gate.answers("/drafts/"), Some(403), "Envoy goes on without it");
}
