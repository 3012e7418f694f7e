//! The Debian packages on their way from one version to the next.

use std::fs;
use std::process::Command;
use std::time::Instant;

use crawlpike_tests::artefacts;
use crawlpike_tests::process::wait_for;

use crate::engine::{Container, images};
use crate::world::{alone, log_time, mount, public_folder};

/// There is no released version yet, so both are of this code, and only their numbers differ.
#[test]
fn an_upgrade_of_the_package_loses_no_request() {
    let _alone = alone();
    let packages = public_folder();
    for revision in ["1", "2"] {
        let folder = packages.path().join(revision);
        fs::create_dir(&folder).unwrap();
        let mut build = Command::new(artefacts::repository().join("packaging/debian/build"));
        // Cargo sets these to the tree that the tests' own module is built with.
        build.env_remove("NGINX_SOURCE_DIR").env_remove("NGINX_BUILD_DIR");
        let built = build.env("DEB_REVISION", revision).arg(&folder).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }
    packages.write("crawlpike.json", r#"{ "mode": "enforce", "sites": [ { "robots_txt": "robots.txt" } ] }"#);
    packages.write("robots.txt", "User-agent: GPTBot\nDisallow: /\n");
    packages.write(
        "site.conf",
        "crawlpike_config /packages/crawlpike.json;\nserver { listen 8080; root /packages; location = /metrics { crawlpike_status; } }\n",
    );
    let words =
        [mount(packages.path(), "/packages"), images().base.clone(), "sleep".into(), "infinity".into()];
    let machine = Container::run("package", &words);
    let run = |command: &str| {
        let finished = machine.exec(&["sh", "-euc", command]);
        assert_eq!(finished.status, 0, "{command}: {} {}", finished.stdout, finished.stderr);
        finished.stdout
    };
    let install = "export DEBIAN_FRONTEND=noninteractive; apt-get install -y -q --no-install-recommends";
    let start = Instant::now();
    run(&format!("apt-get update -q >&2; {install} nginx curl /packages/1/*.deb >&2"));
    // The units of `crawlpike serve` fit what is installed, and wait for whoever needs them.
    run(&format!("{install} procps systemd >&2"));
    run("systemd-analyze verify --man=no crawlpike-serve.service crawlpike-serve.socket");
    run(
        "systemd-analyze security --offline=true --threshold=20 /usr/lib/systemd/system/crawlpike-serve.service",
    );
    assert_eq!(
        run("systemctl is-enabled crawlpike-serve.service crawlpike-serve.socket || true"),
        "disabled\ndisabled"
    );
    run("ln -s /packages/site.conf /etc/nginx/conf.d/crawlpike.conf; nginx");
    let status = |agent: &str| {
        run(&format!(
            "curl -s -o /dev/null -w '%{{http_code}}' -A '{agent}' http://127.0.0.1:8080/robots.txt?"
        ))
    };
    let denied = |what: &str| {
        wait_for(what, || {
            (run("curl -s -A GPTBot/1.2 -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/x") == "403")
                .then_some(())
        });
    };
    denied("a denial by the first version");
    log_time("the Debian package", start);
    assert_eq!(status("curl/8"), "200");

    run(
        "(curl -s --rate 50/s -H 'Connection: close' -o /dev/null -w '%{http_code}\\n' 'http://127.0.0.1:8080/robots.txt?[1-400]' >/tmp/answers; echo end >>/tmp/answers) &",
    );
    run(&format!("{install} /packages/2/*.deb >&2; nginx -t; nginx -s reload"));
    denied("a denial by the second version");
    wait_for("the end of the load", || run("cat /tmp/answers").ends_with("end").then_some(()));
    let answers = run("cat /tmp/answers");
    assert_eq!(answers.lines().filter(|line| *line == "200").count(), 400, "{answers}");
    let version = run("dpkg-query -W -f '${Version}' libnginx-mod-http-crawlpike");
    assert!(version.contains("-2"), "{version}");
}
