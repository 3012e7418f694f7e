//! The upgrade of a running nginx to another binary or module, step by step as on the page about operating.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crawlpike_tests::artefacts;
use crawlpike_tests::lab::{HTTP, lab, person, spoofed, verified};
use crawlpike_tests::load::{Probe, during};
use crawlpike_tests::nginx::{Folder, Nginx, Setup, by_libc, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::proc::children;
use crawlpike_tests::process::wait_for;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// An nginx in the background, as a distribution starts it, which loads a copy of the module.
struct Daemon {
    folder: Folder,
    port: u16,
}

impl Daemon {
    fn start() -> Self {
        let (folder, port) = (lab(), free_port());
        let main = format!("load_module {};", folder.path().join("module.so").display());
        let setup = Setup { with_module: false, main, ..Setup::default() };
        let daemon = Self { folder, port };
        daemon.install_module();
        let http = format!(
            "{HTTP} server {{ listen 127.0.0.1:{port}; root .; location / {{ try_files /lab.txt =404; }} }}"
        );
        let checked = Nginx::check_setup(&daemon.folder, &http, &setup);
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        let configuration = daemon.folder.read("nginx.conf");
        daemon.folder.write("nginx.conf", configuration.replace("daemon off;", "daemon on;"));
        assert!(daemon.nginx(&[]), "{}", daemon.folder.read("error.log"));
        wait_for("the start", || daemon.pid("nginx.pid"));
        daemon
    }

    /// Puts the file of the module in place in one step, as packages do.
    fn install_module(&self) {
        let new = self.path("module.so.new");
        fs::copy(artefacts::nginx_module(), &new).expect("a copy of the module");
        fs::rename(new, self.path("module.so")).expect("a file of ours");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the binary by its full path, which it starts the next one by.
    fn nginx(&self, arguments: &[&str]) -> bool {
        let mut command = Command::new(artefacts::nginx());
        let prefix: &Path = self.folder.path();
        command.arg("-p").arg(prefix).arg("-c").arg(prefix.join("nginx.conf")).args(["-e", "error.log"]);
        command.args(arguments).output().expect("nginx can be started").status.success()
    }

    /// The process in a file, if it runs.
    fn pid(&self, file: &str) -> Option<Pid> {
        let pid = fs::read_to_string(self.path(file)).ok()?.trim().parse().ok()?;
        Pid::from_raw(pid).filter(|pid| test_kill_process(*pid).is_ok())
    }

    /// Has the running nginx start another one, and gives both.
    fn start_second(&self) -> (Pid, Pid) {
        let old = self.pid("nginx.pid").expect("a running nginx");
        signal(old, Signal::USR2);
        wait_for("the second nginx", || {
            let new = self.pid("nginx.pid").filter(|new| *new != old && has_workers(*new))?;
            Some((self.pid("nginx.pid.oldbin").filter(|pid| *pid == old)?, new))
        })
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        for file in ["nginx.pid", "nginx.pid.oldbin"] {
            if let Some(pid) = self.pid(file) {
                signal(pid, Signal::TERM);
                wait_for("the end of nginx", || test_kill_process(pid).is_err().then_some(()));
            }
        }
    }
}

fn signal(pid: Pid, signal: Signal) {
    kill_process(pid, signal).expect("a running nginx");
}

/// Returns true if a master has workers. The second master is a child of the first one, too.
fn has_workers(master: Pid) -> bool {
    children(master.as_raw_nonzero().get()).into_iter().any(|child| {
        let title = fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
        title.starts_with("nginx: worker process")
    })
}

fn wait_for_end(pid: Pid) {
    wait_for("the end of an nginx", || test_kill_process(pid).is_err().then_some(()));
}

#[test]
fn nginx_names_a_module_that_cannot_be_loaded() {
    let folder = lab();
    let module = fs::read(artefacts::nginx_module()).expect("the module");
    folder.write("copy.so", &module);
    // ELF's `e_machine`: AArch64.
    let machine = 18..20;
    folder.write(
        "arm64.so",
        [&module[..machine.start], &183_u16.to_le_bytes(), &module[machine.end..]].concat(),
    );
    let (module, envoy) = (artefacts::nginx_module(), artefacts::envoy_module());
    let load = |path: &Path| format!("load_module {};", path.display());
    // musl takes any processor's file, up to its first instruction.
    let arm64 = by_libc(Some("arm64.so: cannot open shared object file"), None);
    let arm64 = arm64.map(|message| (load(&folder.path().join("arm64.so")), message));
    let of_glibc = "Error loading shared library ld-linux-x86-64.so.2";
    let refused = [
        (String::new(), "unknown directive \"crawlpike_config\""),
        (
            load(&module) + &load(&folder.path().join("copy.so")),
            "module \"ngx_http_crawlpike_module\" is already loaded",
        ),
        (load(&envoy), by_libc("\"ngx_modules\" failed", of_glibc)),
    ];
    for (main, message) in refused.into_iter().chain(arm64) {
        let setup = Setup { with_module: false, main, ..Setup::default() };
        let checked = Nginx::check_setup(&folder, HTTP, &setup);
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(!checked.status.success() && said.contains(message), "{message}: {said}");
    }
}

#[test]
fn a_binary_upgrade_and_the_way_back_lose_no_request() {
    let daemon = Daemon::start();
    let probes = [(person("/"), 200), (verified("/"), 200), (spoofed("/"), 403)]
        .map(|(request, status)| Probe { request, status });
    let report = during(local(daemon.port), &probes, || {
        // To a new module.
        daemon.install_module();
        assert!(daemon.nginx(&["-t"]));
        let (old, new) = daemon.start_second();
        signal(old, Signal::WINCH);
        wait_for("the end of the old workers", || (!has_workers(old)).then_some(()));
        signal(old, Signal::QUIT);
        wait_for_end(old);
        assert_eq!((daemon.pid("nginx.pid"), daemon.path("nginx.pid.oldbin").exists()), (Some(new), false));
        // Back, because the new one is not right.
        let (old, new) = daemon.start_second();
        signal(old, Signal::WINCH);
        wait_for("the end of the old workers", || (!has_workers(old)).then_some(()));
        signal(old, Signal::HUP);
        wait_for("workers of the old one", || has_workers(old).then_some(()));
        signal(new, Signal::QUIT);
        wait_for_end(new);
        wait_for("the old one in its place", || daemon.pid("nginx.pid").filter(|pid| *pid == old));
        // To one that does not start.
        daemon.folder.write("module.so.new", "of another machine");
        fs::rename(daemon.path("module.so.new"), daemon.path("module.so")).expect("a file of ours");
        assert!(!daemon.nginx(&["-t"]));
        signal(old, Signal::USR2);
        daemon.folder.wait_for_line("error.log", "module.so\" failed");
        wait_for("the old one in its place", || daemon.pid("nginx.pid").filter(|pid| *pid == old));
        assert!(has_workers(old));
    });
    assert!(report.failures.is_empty(), "{} requests: {:?}", report.requests, report.failures);
}
