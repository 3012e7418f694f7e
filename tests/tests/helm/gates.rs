//! The gates, with the configurations that the chart renders.

use std::fs;
use std::net::{Ipv6Addr, TcpStream};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crawlpike_tests::artefacts;
use crawlpike_tests::envoy::{Envoy, Listener, native_filter};
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{FIREFOX, from};
use crawlpike_tests::manifests::{documents, wasm_filter};
use crawlpike_tests::nginx::{self, Folder, ask};
use crawlpike_tests::origin::Origin;
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::{Server, wait_for};
use rustix::process::geteuid;
use serde_json::{Value, json};

use crate::updater::Pod;
use crate::{command, find, helm, mount, render, render_with};

/// The decisions of the policy in the value sets.
fn decides(port: u16, denial: u16) {
    let status = |address, agent, path| ask(port, &from(address, Request::get(path).agent(agent))).status;
    assert_eq!(status("192.0.2.1", "PartnerBot/1.0", "/"), 200);
    assert_eq!(status("203.0.113.9", "PartnerBot/1.0", "/"), denial);
    assert_eq!(status("203.0.113.9", "curl/8", "/private/"), denial);
    assert_eq!(status("203.0.113.9", FIREFOX, "/private/"), 200);
}

/// The document of a policy is one without mistakes.
fn lint(file: &Path) {
    let mut lint = Command::new(artefacts::cli());
    let output = lint.args(["lint", "--format", "config"]).arg(file).output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    // The feeds and the keys of the catalog are fetched by the updater.
    let is_fetched = |line: &&str| {
        ["is missing: the file", "does not exist, so no signature by a key of", "have never been fetched"]
            .iter()
            .any(|part| line.contains(part))
    };
    assert_eq!(said.lines().filter(|line| !is_fetched(line)).collect::<Vec<_>>(), [""; 0]);
}

/// Shows the files of a ConfigMap as the kubelet does, which switches one link for a new version.
fn switch(folder: &Folder, at: &str, version: &str, files: &[(&str, Vec<u8>)]) {
    for (name, bytes) in files {
        folder.write(&format!("{at}/..{version}/{name}"), bytes);
    }
    let directory = folder.path().join(at);
    symlink(format!("..{version}"), directory.join("..data_tmp")).unwrap();
    fs::rename(directory.join("..data_tmp"), directory.join("..data")).unwrap();
    for (name, _) in files {
        let link = directory.join(name);
        if !link.is_symlink() {
            symlink(format!("..data/{name}"), link).unwrap();
        }
    }
}

/// The ruleset that the updater makes of a policy; `change` makes its files what a test needs. The feeds of the catalog are
/// missing.
fn ruleset(manifests: &[Value], change: impl FnOnce(&Folder)) -> Vec<u8> {
    let pod = Pod::new(manifests);
    lint(&pod.folder.path().join("etc/crawlpike/crawlpike.json"));
    change(&pod.folder);
    pod.succeeds("compile");
    fs::read(pod.folder.path().join("work/crawlpike.bin.gz")).unwrap()
}

const KERNEL_WITH_IPV6: &str = "/proc/net/if_inet6";

/// An nginx as the Deployment runs it, apart from its paths and ports.
struct Nginx {
    _server: Server,
    folder: Folder,
    port: u16,
    status: u16,
}

impl Nginx {
    /// `kernel` names a file that is there if the kernel has IPv6.
    fn start(manifests: &[Value], folder: Folder, kernel: &str) -> Self {
        let configuration =
            find(manifests, "ConfigMap", "edge-crawlpike-nginx")["data"]["nginx.conf"].as_str().unwrap();
        let container = &find(manifests, "Deployment", "edge-crawlpike-nginx")["spec"]["template"]["spec"]["containers"]
            [0];
        let (port, status, root) = (free_port(), free_port(), folder.path().display());
        let configuration = configuration
            // First: our own folder is in /tmp, too.
            .replace("/tmp/", &format!("{root}/tmp/"))
            .replace("modules/ngx_http_crawlpike_module.so", artefacts::nginx_module().to_str().unwrap())
            .replace("/etc/crawlpike", &format!("{root}/etc/crawlpike"))
            .replace("/dev/stdout", &format!("{root}/access.log"))
            .replace("listen 8080", &format!("listen 127.0.0.1:{port}"))
            .replace("listen 8081", &format!("listen 127.0.0.1:{status}"))
            .replace("listen [::]:8080", &format!("listen [::]:{port}"))
            .replace("listen [::]:8081", &format!("listen [::]:{status}"));
        fs::create_dir_all(folder.path().join("tmp")).unwrap();
        folder.write("etc/nginx-crawlpike/nginx.conf", configuration);
        let words = command(container);
        let ["sh", option, script] = &words[..] else { panic!("{words:?}") };
        // In the pod nobody is root.
        let user = if geteuid().is_root() { "daemon off; user root;" } else { "daemon off;" };
        let script = script
            .replace("/tmp/", &format!("{root}/tmp/"))
            .replace("/etc/nginx-crawlpike", &format!("{root}/etc/nginx-crawlpike"))
            .replace(KERNEL_WITH_IPV6, kernel)
            .replace("exec nginx", &format!("exec {}", artefacts::nginx().display()))
            .replace("daemon off;", user);
        let mut server = Server::start(
            "nginx",
            Command::new("sh").args([option, &*script]),
            &folder.path().join("stderr.log"),
            &[],
        );
        server.wait_until("nginx's start", || {
            folder.read("stderr.log").contains("start worker process ").then_some(())
        });
        Self { _server: server, folder, port, status }
    }

    fn answers_ipv6(&self) -> [bool; 2] {
        [self.port, self.status].map(|port| TcpStream::connect((Ipv6Addr::LOCALHOST, port)).is_ok())
    }

    fn status_page(&self, path: &str) -> String {
        let response = ask(self.status, &Request::get(path).agent("kube-probe/1.33"));
        assert_eq!(response.status, 200, "{path}");
        response.text()
    }
}

#[test]
fn nginx_runs_with_the_ruleset_and_follows_it() {
    let origin = Origin::start();
    let upstream = format!("nginx.upstream=http://127.0.0.1:{}", origin.port());
    let manifests = render_with("nginx", &["--set", &upstream, "--set", "nginx.refresh=100ms"]);
    let folder = Folder::new();
    switch(&folder, "etc/crawlpike", "1", &[("crawlpike.bin.gz", ruleset(&manifests, |_| {}))]);
    let nginx = Nginx::start(&manifests, folder, KERNEL_WITH_IPV6);
    decides(nginx.port, 451);
    assert_eq!(nginx.answers_ipv6(), [true; 2], "a cluster may have IPv6 only");
    assert_eq!(nginx.status_page("/healthz"), "ok\n");
    assert!(nginx.status_page("/metrics").contains("crawlpike_requests_total{"));
    nginx.folder.wait_for_line("access.log", "deny 1 spoofed PartnerBot spoofed-agent");

    // The updater writes a new one, and the kubelet shows it.
    let moved =
        ruleset(&manifests, |folder| drop(folder.write("etc/crawlpike/partners.txt", "203.0.113.0/24\n")));
    switch(&nginx.folder, "etc/crawlpike", "2", &[("crawlpike.bin.gz", moved)]);
    let partner = from("203.0.113.9", Request::get("/").agent("PartnerBot/1.0"));
    wait_for("the new ruleset", || (ask(nginx.port, &partner).status == 200).then_some(()));
}

#[test]
fn nginx_runs_with_the_document() {
    let origin = Origin::start();
    let upstream = format!("nginx.upstream=http://127.0.0.1:{}", origin.port());
    let trusted = "nginx.trustedProxies={127.0.0.1}";
    let manifests = render_with("nginx-without-updater", &["--set", &upstream, "--set", trusted]);
    let folder = Folder::new();
    let policy = find(&manifests, "ConfigMap", "edge-crawlpike-policy");
    let files = policy["data"].as_object().unwrap().iter();
    let files: Vec<_> =
        files.map(|(name, text)| (&**name, text.as_str().unwrap().as_bytes().to_vec())).collect();
    switch(&folder, "etc/crawlpike", "1", &files);
    lint(&folder.path().join("etc/crawlpike/crawlpike.json"));
    let nginx = Nginx::start(&manifests, folder, "/proc/net/without-ipv6");
    decides(nginx.port, 403);
    assert_eq!(nginx.answers_ipv6(), [false; 2]);
}

#[test]
fn envoy_runs_with_what_the_control_planes_hand_over() {
    let origin = Origin::start();
    let folder = Folder::new();
    let root = folder.path().display().to_string();
    let moved = |value: &Value| -> Value {
        let text = value.to_string().replace("/etc/crawlpike", &format!("{root}/etc/crawlpike"));
        let module = artefacts::envoy_module();
        let text = text.replace("/usr/local/lib/crawlpike/libcrawlpike_envoy.so", module.to_str().unwrap());
        serde_json::from_str(&text).unwrap()
    };
    let name = "edge-crawlpike";

    let manifests = render("envoy-gateway-wasm");
    let gateway_wasm = find(&manifests, "EnvoyExtensionPolicy", name)["spec"]["wasm"][0].clone();
    assert_eq!((&gateway_wasm["rootID"], &gateway_wasm["failOpen"]), (&"crawlpike".into(), &true.into()));
    let manifests = render("istio-wasm");
    let istio_wasm = find(&manifests, "WasmPlugin", name)["spec"].clone();
    assert_eq!(
        (&istio_wasm["pluginName"], &istio_wasm["failStrategy"]),
        (&"crawlpike".into(), &"FAIL_RELOAD".into())
    );

    let manifests = render("istio-native");
    mount(find(&manifests, "ConfigMap", "edge-crawlpike-policy"), &folder, "policy");
    folder.write("etc/crawlpike/crawlpike.bin.gz", ruleset(&manifests, |_| {}));
    let istio_native =
        moved(&find(&manifests, "EnvoyFilter", name)["spec"]["configPatches"][0]["patch"]["value"]);

    let manifests = render("envoy-gateway-native");
    let module = &find(&manifests, "EnvoyExtensionPolicy", name)["spec"]["dynamicModule"][0];
    let proxy = &find(&manifests, "EnvoyProxy", name)["spec"];
    assert_eq!(
        (&module["name"], &module["filterName"]),
        (&proxy["dynamicModules"][0]["name"], &"crawlpike".into())
    );
    let gateway_native = native_filter(&moved(&module["config"]).to_string());

    let filters = [
        wasm_filter(&gateway_wasm["config"]),
        wasm_filter(&istio_wasm["pluginConfig"]),
        istio_native,
        gateway_native,
    ];
    let listeners = filters.map(|filter| {
        let port = free_port();
        Listener { port, filter, access_log: format!("{port}.log") }
    });
    let _envoy = Envoy::start(folder, &listeners, origin.port());
    for listener in &listeners {
        decides(listener.port, 403);
    }
}

#[test]
fn pods_mount_what_their_gate_reads() {
    let volume = json!({ "name": "crawlpike", "configMap": {
        "name": "edge-crawlpike-ruleset", "items": [{ "key": "crawlpike.bin.gz", "path": "crawlpike.bin.gz" }] } });
    let mount = json!({ "name": "crawlpike", "mountPath": "/etc/crawlpike", "readOnly": true });

    let manifests = render("envoy-gateway-native");
    let deployment = &find(&manifests, "EnvoyProxy", "edge-crawlpike")["spec"]["provider"]["kubernetes"]["envoyDeployment"];
    assert_eq!(
        (&deployment["pod"]["volumes"][0], &deployment["container"]["volumeMounts"][0]),
        (&volume, &mount)
    );

    let manifests = render("istio-native-gateway");
    let overlay =
        find(&manifests, "ConfigMap", "edge-crawlpike-gateway")["data"]["deployment"].as_str().unwrap();
    let overlay: Value = serde_saphyr::from_str(overlay).unwrap();
    let pod = &overlay["spec"]["template"]["spec"];
    assert_eq!((&pod["volumes"][0], &pod["containers"][0]["volumeMounts"][0]), (&volume, &mount));

    // The keys that nginx mounts are those that the updater writes.
    let keys = |more: &[&str]| {
        let manifests = render_with("nginx", more);
        let pod = &find(&manifests, "Deployment", "edge-crawlpike-nginx")["spec"]["template"]["spec"];
        assert!(pod["containers"][0]["volumeMounts"].as_array().unwrap().contains(&mount), "{pod}");
        let volumes = pod["volumes"].as_array().unwrap();
        let shown = &volumes.iter().find(|one| one["name"] == "crawlpike").unwrap()["configMap"];
        assert_eq!(
            (&shown["name"], &shown["items"][0]["path"]),
            (&"edge-crawlpike-ruleset".into(), &"crawlpike.bin.gz".into())
        );
        let key = shown["items"][0]["key"].as_str().unwrap().to_owned();
        let written =
            find(&manifests, "ConfigMap", "edge-crawlpike-updater")["data"]["kustomization.yaml"].clone();
        let written: Value = serde_saphyr::from_str(written.as_str().unwrap()).unwrap();
        (key.clone(), written["configMapGenerator"][0]["files"] == json!([format!("{key}=crawlpike.bin.gz")]))
    };
    let (key, is_written) = keys(&[]);
    assert!(is_written, "{key}");
    // New pods for a new document, and only for that.
    assert_eq!(
        keys(&["--set", "policy.files.robots\\.txt=", "--set", "updater.schedule=7 7 * * *"]),
        (key.clone(), true)
    );
    let (other, is_written) = keys(&["--set", "policy.document.mode=observe"]);
    assert!(other != key && is_written, "{other}");

    // Each other gate has the same key always.
    for (set, more) in [
        ("envoy-gateway-native", ""),
        ("istio-native", ""),
        ("istio-wasm", ""),
        ("nginx", "istio.enabled=true,istio.gateway=web,istio.form=native"),
    ] {
        let manifests = render_with(set, &["--set", more]);
        let written =
            find(&manifests, "ConfigMap", "edge-crawlpike-updater")["data"]["kustomization.yaml"].clone();
        assert!(written.as_str().unwrap().contains("- crawlpike.bin.gz\n"), "{set}: {written}");
    }
}

#[test]
fn nginx_takes_the_snippets_for_the_ingress_controller() {
    let values = examples("nginx-ingress/values.yaml").remove(0);
    let controller = &values["controller"];
    let entry = |name: &str| controller["config"]["entries"][name].as_str().unwrap().to_owned();
    mounts_the_ruleset(&controller["volumes"][0], &controller["volumeMounts"][0]);
    let (_nginx, port, _origin) =
        nginx_with(&entry("main-snippets"), &entry("http-snippets"), &entry("real-ip-header"), "");
    decides(port, 403);
}

#[test]
fn nginx_takes_the_snippets_for_nginx_gateway_fabric() {
    let manifests = examples("nginx-gateway-fabric/gateway.yaml");
    let deployment = &find(&manifests, "NginxProxy", "crawlpike")["spec"]["kubernetes"]["deployment"];
    mounts_the_ruleset(&deployment["pod"]["volumes"][0], &deployment["container"]["volumeMounts"][0]);
    let snippet = |kind: &str, name: &str, context: &str| {
        let snippets = find(&manifests, kind, name)["spec"]["snippets"].as_array().unwrap();
        let snippet = snippets.iter().find(|snippet| snippet["context"] == context).expect(context);
        snippet["value"].as_str().unwrap().to_owned()
    };
    let of_policy = |context| snippet("SnippetsPolicy", "crawlpike", context);
    let filter = snippet("SnippetsFilter", "crawlpike-observe", "http.server.location");
    for (location, denial) in [("", 403), (&*filter, 200)] {
        let (_nginx, port, _origin) =
            nginx_with(&of_policy("main"), &of_policy("http"), "X-Forwarded-For", location);
        decides(port, denial);
    }
}

/// The documents in a file of `examples/kubernetes`.
fn examples(file: &str) -> Vec<Value> {
    let path = artefacts::repository().join("examples/kubernetes").join(file);
    documents(&fs::read_to_string(path).unwrap())
}

/// Asserts that a pod mounts the ConfigMap that a release `crawlpike` without a gate writes.
fn mounts_the_ruleset(volume: &Value, mount: &Value) {
    let release = helm(&["template", "crawlpike", ".", "--set", "image.registry=registry.example"]);
    let manifests = documents(&String::from_utf8(release.stdout).unwrap());
    find(&manifests, "ConfigMap", volume["configMap"]["name"].as_str().unwrap());
    assert_eq!(volume["configMap"]["items"][0]["key"], "crawlpike.bin.gz");
    assert_eq!((&mount["mountPath"], &mount["name"]), (&json!("/etc/crawlpike"), &volume["name"]));
}

/// An nginx with snippets of a controller, in front of an origin; and its port.
fn nginx_with(main: &str, http: &str, address_header: &str, location: &str) -> (nginx::Nginx, u16, Origin) {
    let (origin, folder, port) = (Origin::start(), Folder::new(), free_port());
    let root = folder.path().display().to_string();
    folder.write("etc/crawlpike/crawlpike.bin.gz", ruleset(&render("nginx"), |_| {}));
    assert_eq!(main.trim(), "load_module modules/ngx_http_crawlpike_module.so;");
    let http = http.replace("/etc/crawlpike", &format!("{root}/etc/crawlpike"));
    let address = format!("set_real_ip_from 127.0.0.1; real_ip_header {address_header};");
    let server = format!(
        "server {{ listen 127.0.0.1:{port}; location / {{ {location} proxy_pass http://127.0.0.1:{}; }} }}",
        origin.port()
    );
    (nginx::Nginx::start(folder, &format!("{http}\n{address}\n{server}")), port, origin)
}
