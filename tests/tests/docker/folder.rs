//! Mounted files, and an image of another nginx: if a container cannot serve as its operator wants, its log says what to
//! do, and nothing is served.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crawlpike_tests::artefacts;
use crawlpike_tests::process::wait_for;

use crate::engine::{Container, Finished, images, try_docker};
use crate::world::{Gate, HARDENED, World, alone, mount, public_folder};

const GOOD: &str = r#"{ "mode": "enforce", "sites": [ { "robots_txt": "robots.txt" } ] }"#;

/// Runs a gate that ends by itself.
fn run(image: &str, options: &[&str]) -> Finished {
    let timeout = ["--rm", "--env=ORIGIN=127.0.0.1:8000"];
    let finished = try_docker(&[&["run"], &timeout[..], &HARDENED, options, &[image]].concat());
    assert!(!matches!(finished.status, 0 | 125..=127), "{finished:?}");
    finished
}

#[test]
fn a_container_without_a_usable_configuration_says_what_to_do() {
    let _alone = alone();
    let images = images();
    let folder = public_folder();
    let mounted = mount(folder.path(), "/etc/crawlpike");
    for image in [images.nginx, images.envoy] {
        let says = |text: &str, options: &[&str]| {
            let finished = run(image, options);
            assert!(finished.stderr.contains(text), "{image}: {text}: {finished:?}");
        };
        says("no configuration is mounted", &[]);
        says("has no crawlpike.json", &[&mounted]);

        folder.write("crawlpike.json", "{ \"mode\": \"enforced\" }\n");
        says("unknown value `enforced`", &[&mounted]);
        says("correct what the lines above name", &[&mounted]);
        // Every reason at once.
        folder.write("crawlpike.json", "{ \"mode\": \"enforced\", \"sites\": 1 }\n");
        says("sites", &[&mounted]);

        folder.write("robots.txt", "");
        let file = folder.write("crawlpike.json", GOOD);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        says("run 'chmod a+r'", &[&mounted]);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        says("run 'chmod a+rx'", &[&mounted]);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        folder.write("crawlpike.json", GOOD);
        says("invalid ORIGIN 'a;b'", &[&mounted, "--env=ORIGIN=a;b"]);
        fs::remove_file(folder.path().join("crawlpike.json")).unwrap();
    }
    // The command line has no shell to say more.
    let update = [images.cli, "update", "--config", "/etc/crawlpike/crawlpike.json"];
    let finished = try_docker(&[&["run", "--rm", &mounted][..], &update].concat());
    assert_eq!(finished.status, 2, "{finished:?}");
    assert!(finished.stderr.contains("crawlpike init"), "{finished:?}");
    let finished = try_docker(&["run", "--rm", "--entrypoint=sh", images.cli]);
    assert_eq!(finished.status, 127, "there is no shell: {finished:?}");
}

/// nginx's own words for a module that is for another version, or built otherwise.
#[test]
fn a_module_for_another_nginx_is_refused_in_words() {
    let _alone = alone();
    let policy = public_folder();
    policy.write("crawlpike.json", GOOD);
    policy.write("robots.txt", "");
    let module = fs::read(artefacts::nginx_module()).unwrap();
    let version = images_nginx_version().to_le_bytes();
    let at = module.windows(version.len()).position(|bytes| bytes == version).expect("the version of nginx");
    let mut other = module.clone();
    other[at] += 1;
    policy.write("module.so", other);
    let at = format!(
        "{}:/usr/lib/nginx/modules/ngx_http_crawlpike_module.so:ro",
        policy.path().join("module.so").display()
    );
    let options = [&mount(policy.path(), "/etc/crawlpike"), &format!("--volume={at}")];
    let finished = run(images().nginx, &options.map(String::as_str));
    assert!(finished.stderr.contains("the module is not for the nginx of this image"), "{finished:?}");
    assert!(finished.stderr.contains("--build-arg BASE="), "{finished:?}");
}

/// As a number, such as 1022001 for 1.22.1.
fn images_nginx_version() -> u64 {
    let text = try_docker(&["run", "--rm", images().nginx, "nginx", "-v"]).stderr;
    let version = text.rsplit('/').next().unwrap().split(' ').next().unwrap().trim().to_owned();
    version.split('.').fold(0, |sum, part| sum * 1000 + part.parse::<u64>().unwrap())
}

#[test]
fn a_configuration_that_breaks_while_the_gates_run_changes_nothing() {
    let world = World::new();
    let (agent, client) = ("GPTBot/1.2", "198.51.100.10");
    world.all_now("403", client, agent, "/private/");
    let good = fs::read_to_string(world.policy.path().join("crawlpike.json")).unwrap();
    for broken in ["{ \"mode\": \"enforced\" }\n", "", "\u{0}\u{1}"] {
        let refusals = |gate: &Gate| gate.container.log().matches("crawlpike.json:1").count();
        let before: Vec<usize> = world.gates.iter().map(refusals).collect();
        world.policy.write("crawlpike.json", broken);
        world.reload();
        for (gate, before) in world.gates.iter().zip(before) {
            wait_for(&format!("{} refuses {broken:?}", gate.name), || {
                (refusals(gate) > before).then_some(())
            });
        }
        world.all_now("403", client, agent, "/private/");
        world.all_now("200", client, agent, "/");
    }
    fs::remove_file(world.policy.path().join("crawlpike.json")).unwrap();
    world.reload();
    world.all_now("403", client, agent, "/private/");

    world.policy.write("robots.txt", "User-agent: GPTBot\nDisallow: /drafts/\n");
    world.policy.write("crawlpike.json", good);
    world.reload();
    world.all("403", client, agent, "/drafts/");
    world.all("200", client, agent, "/private/");
}

/// An engine without IPv6 is what a network without an IPv6 prefix has.
#[test]
fn the_gates_serve_without_ipv6() {
    let _alone = alone();
    let policy = public_folder();
    policy.write("crawlpike.json", GOOD);
    policy.write("robots.txt", "User-agent: *\nDisallow: /private/\n");
    for image in [images().nginx, images().envoy] {
        let mut words =
            vec![mount(policy.path(), "/etc/crawlpike"), "--env=ORIGIN=127.0.0.1:9145".to_owned()];
        words.push("--sysctl=net.ipv6.conf.all.disable_ipv6=1".to_owned());
        words.extend(HARDENED.map(str::to_owned));
        words.push(image.to_owned());
        becomes_healthy(&Container::run("no-ipv6", &words));
    }
}

#[test]
fn nginx_is_healthy_with_the_servers_of_its_user() {
    let _alone = alone();
    let (policy, servers) = (public_folder(), public_folder());
    policy.write("crawlpike.json", GOOD);
    policy.write("robots.txt", "");
    servers.write("site.conf", "server { listen 8080; return 204; }\n");
    let mut words = vec![mount(policy.path(), "/etc/crawlpike"), mount(servers.path(), "/etc/nginx/conf.d")];
    words.extend(HARDENED.map(str::to_owned));
    words.push(images().nginx.to_owned());
    becomes_healthy(&Container::run("own-servers", &words));
}

fn becomes_healthy(gate: &Container) {
    wait_for("a healthy container", || (gate.inspect("{{.State.Health.Status}}") == "healthy").then_some(()));
}
