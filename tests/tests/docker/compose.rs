//! compose.yaml as README says, on images that need no registry.

use std::process::Command;
use std::time::Instant;

use crawlpike_tests::artefacts;
use crawlpike_tests::http::{self, Request};
use crawlpike_tests::nginx::local;
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use crawlpike_tests::replacements::question;

use crate::engine::{Finished, artefacts_of_images, images, try_docker};
use crate::world::{FIREFOX, alone, log_time};

/// The composition; it goes with its owner.
struct Composition {
    words: Vec<String>,
    /// Of nginx, Envoy and `crawlpike serve`.
    ports: [u16; 3],
}

impl Composition {
    fn run(&self, arguments: &[&str]) -> Finished {
        let images = images();
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).arg("-f").arg(artefacts::repository().join("compose.yaml"));
        command.args(["-p", "crawlpike-test-compose"]).args(arguments);
        command
            .env("BASE", &images.base)
            .env("ENVOY", images.envoy_base)
            .env("ARTEFACTS", artefacts_of_images());
        for (name, port) in ["NGINX_PORT", "ENVOY_PORT", "SERVE_PORT"].iter().zip(self.ports) {
            command.env(name, port.to_string());
        }
        command.output().expect("Compose can be started").into()
    }
}

impl Drop for Composition {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.run(&["logs", "--no-color"]).stdout);
        }
        self.run(&["down", "--volumes", "--timeout", "5"]);
    }
}

#[test]
fn the_commands_of_the_readme_work() {
    let _alone = alone();
    // Built before the time counts.
    images();
    let words =
        if try_docker(&["compose", "version"]).status == 0 { "docker compose" } else { "docker-compose" };
    let words = words.split(' ').map(str::to_owned).collect();
    let composition = Composition { words, ports: [(); 3].map(|()| free_port()) };
    let start = Instant::now();
    let up = composition.run(&["up", "--build", "--detach"]);
    assert_eq!(up.status, 0, "{}", up.stderr);

    let [gates @ .., serve] = composition.ports;
    for port in gates {
        let ask = |agent: &str, path: &str| {
            let answer = http::send(local(port), &Request::get(path).agent(agent)).ok()?;
            Some((answer.status, answer.text()))
        };
        wait_for("a person is let in", || ask(FIREFOX, "/").filter(|answer| answer.0 == 200));
        let denial = |agent, path| ask(agent, path).filter(|answer| answer.0 == 403).expect("a denial").1;
        assert_eq!(
            ask("Googlebot/2.1", "/").map(|answer| answer.0),
            Some(200),
            "a private address is a doubt"
        );
        assert!(denial("Google-Extended", "/").contains("spoofed-agent"), "no client sends this token");
        assert!(denial("curl/8", "/private/").contains("robots-disallowed"), "robots.txt");
    }
    let ask = |agent, address| http::send(local(serve), &question(agent, address)).ok();
    wait_for("a person may pass", || ask(FIREFOX, "66.249.66.1").filter(|answer| answer.status == 200));
    let answer = |agent, address| ask(agent, address).expect("an answer");
    let verified = answer("Googlebot/2.1", "66.249.66.1");
    assert!(verified.header("x-crawlpike").is_some_and(|known| known.contains("identity=verified")));
    assert_eq!(answer("Googlebot/2.1", "192.0.2.1").status, 403);
    log_time("docker compose up, with the images built", start);
    let updater = composition.run(&["logs", "--no-color", "update"]).stdout;
    // Without a network, one line is about all feeds.
    let is_heard_of =
        ["google-common-crawlers", "5 feeds are not updated"].iter().any(|text| updater.contains(text));
    assert!(is_heard_of, "{updater}");
}
