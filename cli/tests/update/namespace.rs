//! Private addresses: which servers are reached, in a network of the test's own, in which these addresses and public ones lead to
//! the test's servers.

use std::env;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;

use crawlpike_tests::publisher::{Asked, Connection, Publisher, respond};
use serde_json::{Value, json};

use crate::fixture::{AUTHORITY, GOOD, Lab, says};

/// The variable that says that this process runs in the network of the test; it has the file with the names there.
const HOSTS: &str = "CRAWLPIKE_TEST_HOSTS";

const NAMES: &str = "127.0.0.1 localhost\n20.0.0.1 public.example\n20.0.0.2 www.public.example\n\
    10.0.0.5 private.example app\n169.254.169.254 metadata.example\n10.0.0.5 both.example\n20.0.0.1 both.example\n";

const ROBOTS: &str = "User-agent: *\nDisallow: /private/\n";

const SECRET: &str = "User-agent: *\nDisallow: /the-secret-of-the-network/\n";

/// Runs a test, by its name, in a network of its own.
fn in_namespace(test: &str, body: fn()) {
    if env::var_os(HOSTS).is_some() {
        return body();
    }
    let folder = tempfile::tempdir().unwrap();
    let hosts = folder.path().join("hosts");
    fs::write(&hosts, NAMES).unwrap();
    let addresses = ["20.0.0.1", "20.0.0.2", "10.0.0.5", "169.254.169.254"];
    let add: String = addresses.iter().map(|one| format!("ip address add {one}/32 dev lo; ")).collect();
    let script = format!("ip link set lo up; {add} mount --bind \"${HOSTS}\" /etc/hosts; exec \"$0\" \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net", "--mount", "sh", "-ec", &script]);
    command.arg(env::current_exe().unwrap());
    command.args(["--exact", &format!("namespace::{test}"), "--nocapture"]).env(HOSTS, &hosts);
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|stream| String::from_utf8_lossy(&stream).into_owned());
    assert!(output.status.success() && said[0].contains("1 passed"), "{}\n{}", said[0], said[1]);
}

fn server(
    address: &str,
    answer: impl Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static,
) -> Publisher {
    Publisher::listen(TcpListener::bind(address).unwrap(), None, Arc::new(answer))
}

fn redirect(
    to: &str,
) -> impl Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static + use<> {
    let location = format!("Location: {to}");
    move |asked, connection| match &*asked.target {
        "/end" => respond(connection, "200 OK", &["Cache-Control: no-cache"], ROBOTS),
        _ => respond(connection, "302 Found", &[&location], ""),
    }
}

fn permanent(
    to: &'static str,
) -> impl Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static {
    move |_, connection| respond(connection, "301 Moved Permanently", &[&format!("Location: {to}")], "")
}

/// A lab with a robots.txt that has this URL, and may come from these origins.
fn lab_of_robots(url: &str, origins: &[&str]) -> Lab {
    let lab = Lab::new(says(&[], GOOD));
    configure(&lab, url, origins);
    lab
}

fn configure(lab: &Lab, url: &str, origins: &[&str]) {
    let site = json!({ "robots_txt": "robots.txt", "robots_txt_url": url, "policy_origins": origins });
    lab.write("crawlpike.json", json!({ "catalog": "none", "sites": [site] }).to_string());
}

#[test]
fn a_policy_comes_from_its_own_origin_or_from_one_that_is_listed() {
    in_namespace("a_policy_comes_from_its_own_origin_or_from_one_that_is_listed", || {
        // ROB-6
        let public = server("20.0.0.1:80", redirect("http://public.example/end"));
        let www = server("20.0.0.2:80", says(&[], SECRET));
        let private = server("10.0.0.5:80", says(&[], SECRET));
        let metadata = server("169.254.169.254:80", says(&[], SECRET));
        let other_port = server("20.0.0.1:8080", says(&[], SECRET));
        let lab = lab_of_robots("http://public.example/robots.txt", &[]);
        lab.update(&[]).ends(0);
        assert_eq!(lab.read("robots.txt"), ROBOTS);
        public.asked();
        for (to, reason) in [
            (
                "http://www.public.example/",
                "of another origin; if that is right, list http://www.public.example in `policy_origins`",
            ),
            ("http://public.example:8080/", "list http://public.example:8080 in `policy_origins`"),
            ("http://20.0.0.1/", "of another origin"),
            ("http://10.0.0.5/", "of another origin"),
            ("http://private.example/", "of another origin"),
            ("http://169.254.169.254/latest/meta-data/", "of another origin"),
            ("http://127.0.0.1/", "of another origin"),
            ("http://me:secret@public.example/end", "with a user name or a password"),
        ] {
            public.answer(redirect(to));
            let done = lab.update(&[]);
            done.ends(1).says("the policy `robots.txt` is held: it redirects to ").says(reason);
            assert!(
                done.stderr.contains("robots.txt is left unchanged") && !done.stderr.contains("secret"),
                "{done:?}"
            );
            assert_eq!(lab.read("robots.txt"), ROBOTS, "{to}");
        }
        for server in [&www, &private, &metadata, &other_port] {
            assert!(server.asked().is_empty());
        }
        assert_eq!(public.asked().len(), 8, "each run asks its own server again");

        // A listed origin is followed, and from there only back or to what is listed, too.
        configure(&lab, "http://public.example/robots.txt", &["http://www.public.example"]);
        public.answer(redirect("http://www.public.example/end"));
        www.answer(redirect("http://public.example/end"));
        lab.update(&[]).ends(0);
        for to in ["http://www.public.example/x", "http://10.0.0.5/"] {
            public.answer(redirect(to));
            www.answer(redirect("http://private.example/"));
            lab.update(&[]).ends(1).says("is held: it redirects to http://").says("of another origin");
        }
        assert_eq!((private.asked().len(), lab.read("robots.txt")), (0, ROBOTS.into()));
    });
}

#[test]
fn a_name_leads_a_policy_into_no_private_network() {
    in_namespace("a_name_leads_a_policy_into_no_private_network", || {
        // ROB-6
        let private = server("10.0.0.5:80", says(&["Cache-Control: no-cache"], SECRET));
        let metadata = server("169.254.169.254:80", says(&[], SECRET));
        let public = server("20.0.0.1:80", says(&["Cache-Control: no-cache"], ROBOTS));
        let loopback = server("127.0.0.1:80", says(&[], SECRET));
        let lab = lab_of_robots("http://both.example/robots.txt", &[]);
        // A name with a public address, too, is asked for there.
        lab.update(&[]).ends(0);
        assert_eq!((private.asked().len(), lab.read("robots.txt")), (0, ROBOTS.into()));
        for name in ["private.example", "app", "metadata.example", "localhost"] {
            configure(&lab, &format!("http://{name}/robots.txt"), &[]);
            let done = lab.update(&[]);
            done.ends(1).says(&format!("is held: the name {name} has only private addresses, such as "));
            done.says("if you mean that server, write its address into the URL, or list its origin in `policy_origins`");
            assert_eq!(lab.read("robots.txt"), ROBOTS, "{name}");
        }
        for server in [&private, &metadata, &loopback] {
            assert!(server.asked().is_empty());
        }
        // A name that leads elsewhere at the second request.
        configure(&lab, "http://public.example/robots.txt", &[]);
        public.answer(|_, connection| {
            let file = env::var_os(HOSTS).unwrap();
            fs::write(file, NAMES.replace("20.0.0.1 public.example", "10.0.0.5 public.example"))?;
            respond(connection, "302 Found", &["Location: /again"], "")
        });
        lab.update(&[])
            .ends(1)
            .says("is held: the name public.example has only private addresses, such as 10.0.0.5");
        assert_eq!((private.asked().len(), lab.read("robots.txt")), (0, ROBOTS.into()));

        // An origin that the operator names is asked.
        for (url, origins) in
            [("http://10.0.0.5/robots.txt", &[][..]), ("http://app/robots.txt", &["http://app"])]
        {
            lab.write("robots.txt", ROBOTS);
            configure(&lab, url, origins);
            lab.update(&[]).ends(0);
            assert_eq!((private.asked().len(), lab.read("robots.txt")), (1, SECRET.into()), "{url}");
        }
    });
}

#[test]
fn a_feed_is_led_into_no_private_network_by_a_redirect() {
    in_namespace("a_feed_is_led_into_no_private_network_by_a_redirect", || {
        let secret = "20.9.0.0/24\n20.9.1.0/24\n2a00::/32\n";
        let private = server("10.0.0.5:80", says(&[], secret));
        let other = server("10.0.0.5:8080", says(&[], secret));
        let public = server("20.0.0.1:80", says(&[], GOOD));
        let lab = Lab::new(says(&[], GOOD));
        let set = |url: &str| lab.configure(&[json!({ "url": url })]);
        set("http://public.example/");
        lab.update(&[]).ends(0);
        for to in [
            "http://10.0.0.5/",
            "http://private.example/",
            "http://167772165/",
            "http://[::ffff:10.0.0.5]/",
            "http://0x0a000005/",
        ] {
            public.answer(redirect(to));
            set(&format!("http://public.example/{}", to.len()));
            let done = lab.update(&[]);
            done.ends(1)
                .says("private address")
                .says("if you mean that server, write its own URL into `url`");
            assert_eq!(lab.read("lab.txt"), GOOD, "{to}");
        }
        assert!(private.asked().is_empty() && other.asked().is_empty());
        // A mirror in the network, which may redirect within itself, and to the Internet.
        private.answer(|asked, connection| match &*asked.target {
            "/list" => respond(connection, "200 OK", &["Cache-Control: no-cache"], GOOD),
            "/away" => respond(connection, "302 Found", &["Location: http://20.0.0.1/"], ""),
            "/other" => respond(connection, "302 Found", &["Location: http://private.example:8080/"], ""),
            _ => respond(connection, "302 Found", &["Location: /list"], ""),
        });
        public.answer(says(&[], GOOD));
        for path in ["", "away"] {
            set(&format!("http://private.example/{path}"));
            lab.update(&[]).ends(0);
        }
        set("http://private.example/other");
        lab.update(&[]).ends(1).says("private address");
        assert!(other.asked().is_empty());
    });
}

#[test]
fn a_redirect_to_https_of_the_same_host_is_followed() {
    in_namespace("a_redirect_to_https_of_the_same_host_is_followed", || {
        let plain = server("20.0.0.1:80", permanent("https://public.example/lab.txt"));
        let names = vec!["public.example".to_owned()];
        let body = Arc::new(says(&["Cache-Control: no-cache"], GOOD));
        let listener = TcpListener::bind("20.0.0.1:443").unwrap();
        let tls = Publisher::listen(listener, Some(AUTHORITY.identity_of(names)), body);
        let lab = Lab::new(says(&[], GOOD));
        lab.configure(&[json!({ "url": "http://public.example/lab.txt" })]);
        let done = lab.update(&[]);
        done.ends(0).says("change its `url` to https://public.example/lab.txt");
        assert_eq!(lab.read("lab.txt"), GOOD);
        tls.answer(says(&[], ROBOTS));
        configure(&lab, "http://public.example/robots.txt", &[]);
        lab.update(&[]).ends(0);
        assert_eq!(lab.read("robots.txt"), ROBOTS);
        // Back to where anybody can change it: never.
        tls.answer(redirect("http://public.example/end"));
        lab.forget();
        lab.update(&[])
            .ends(1)
            .says("is held: it redirects to http://public.example/end, where nothing protects");
        assert_eq!(plain.asked().len(), 3);
        let state: Value = lab.state();
        assert_eq!(state["policies"]["robots.txt"]["failures"], 1);
    });
}
