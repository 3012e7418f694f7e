//! nginx takes its configuration, and module and nginx are of one version.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, io, thread};

use rustix::process::{Pid, Signal, kill_process};

use super::finding::Finding;
use super::situation::{Situation, uses};
use crate::nginx_conf::NginxConf;

/// The folders in which nginx can be, beside those of PATH.
const FOLDERS: [&str; 4] =
    ["/usr/sbin", "/usr/local/sbin", "/usr/local/nginx/sbin", "/usr/local/openresty/nginx/sbin"];

/// The time that nginx may take. It waits for somebody who reads a log that is a pipe.
const PATIENCE: Duration = Duration::from_secs(30);

const MODULE: &str = "ngx_http_crawlpike_module.so";

pub(super) fn check(situation: &Situation) -> Vec<Finding> {
    let Some(conf) = &situation.nginx else {
        return vec![
            Finding::note("nginx is not checked: no configuration of nginx was found")
                .remedy("--nginx with the path of nginx.conf"),
        ];
    };
    let shown = conf.path.display().to_string();
    let unreadable =
        conf.unreadable.iter().map(|why| Finding::warning(format!("cannot be read: {why}")).at(&*shown));
    let mut findings: Vec<Finding> = unreadable.collect();
    if conf.crawlpike_config().is_none() {
        let what = "no `crawlpike_config` is in it, so this nginx does not use Crawlpike";
        let line = format!("crawlpike_config {};   in the block http", whole(&situation.config).display());
        findings.push(Finding::note(what).at(shown).remedy(line));
        return findings;
    }
    findings.extend(other_configuration(situation, conf));
    match program() {
        Some(program) => findings.extend(test(&program, conf)),
        None => findings.push(
            Finding::note("whether nginx takes it is not checked: nginx is not installed here").at(shown),
        ),
    }
    findings
}

/// nginx uses another document than the one that is checked.
fn other_configuration(situation: &Situation, conf: &NginxConf) -> Option<Finding> {
    let (directive, used) = (conf.first("crawlpike_config")?, conf.crawlpike_config()?);
    if uses(conf, &situation.config) {
        return None;
    }
    let (used_shown, config) = (used.display(), whole(&situation.config));
    let finding = |what: String| Finding::fault(what).at(directive.place());
    let is_compiled =
        crawlpike_files::read_file(&used).is_ok_and(|bytes| crawlpike_files::is_compiled(&bytes));
    if !is_compiled {
        let what = format!("nginx uses {used_shown}, not {}", config.display());
        return Some(finding(what).remedy(format!("crawlpike_config {};", config.display())));
    }
    let compiled = crawlpike_files::compile(&used, &crawlpike_files::FilesBeside::new(&used));
    let of_used = compiled.as_ref().map(crawlpike_core::Compiled::document).unwrap_or_default();
    let document = situation.compiled.as_ref().map(crawlpike_core::Compiled::document).unwrap_or_default();
    (of_used != document).then(|| {
        let what = format!(
            "nginx uses {used_shown}, which was compiled from another document than {}",
            config.display()
        );
        finding(what)
            .remedy(format!("crawlpike compile --config {} --output {used_shown}", situation.argument()))
    })
}

fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The program of nginx.
fn program() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).chain(FOLDERS.map(PathBuf::from)).collect();
    folders.into_iter().map(|folder| folder.join("nginx")).find(|program| program.is_file())
}

/// Has nginx test the configuration, which shows whether it can load the module.
fn test(program: &Path, conf: &NginxConf) -> Vec<Finding> {
    let command = format!("nginx -t -c {}", conf.path.display());
    let output = match output_of(Command::new(program).arg("-t").arg("-c").arg(whole(&conf.path)), PATIENCE) {
        Ok(output) => output,
        Err(error) => return vec![Finding::note(format!("cannot run {}: {error}", program.display()))],
    };
    let lines = String::from_utf8_lossy(&output.stderr).into_owned();
    let found = lines.lines().filter_map(|line| message(line, &command));
    let found: Vec<Finding> = found.map(|finding| finding.at(conf.path.display().to_string())).collect();
    if !output.status.success() && found.is_empty() {
        return vec![Finding::fault("nginx does not take its configuration").remedy(command)];
    }
    found
}

/// Runs a command for at most this time.
fn output_of(command: &mut Command, patience: Duration) -> io::Result<Output> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let (id, (sender, receiver)) = (Pid::from_child(&child), mpsc::channel());
    thread::spawn(move || sender.send(child.wait_with_output()));
    receiver.recv_timeout(patience).unwrap_or_else(|_| {
        kill_process(id, Signal::KILL)?;
        Err(io::Error::other(format!("it did not end within {} s", patience.as_secs())))
    })
}

/// The meaning of a line of `nginx -t`; `None` if it is about something else.
fn message(line: &str, command: &str) -> Option<Finding> {
    let (before, rest) = line.split_once('[')?;
    // With `--error-log-path=stderr`, as in Debian, a line begins with the date, and its text with `PID#TID: `.
    let is_date = || before.bytes().all(|byte| byte.is_ascii_digit() || b"/: ".contains(&byte));
    let (level, text) = rest.split_once("] ").filter(|_| before == "nginx: " || is_date())?;
    let is_id = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'#');
    let text = text.split_once(": ").filter(|(word, _)| is_id(word)).map_or(text, |(_, text)| text);
    let is_of_module = text.contains(MODULE);
    match level {
        "emerg" if is_of_module && text.contains(" instead of ") => {
            let mut numbers = text.split_ascii_whitespace().filter_map(version);
            let (module, nginx) = (numbers.next()?, numbers.next()?);
            let what = format!("the module is for nginx {module}, and this is nginx {nginx}");
            Some(
                Finding::fault(what)
                    .remedy(format!("install the module for nginx {nginx}, or build it: make build")),
            )
        }
        "emerg" if is_of_module && text.contains("not binary compatible") => {
            let what = "the module was built for an nginx with other options";
            Some(Finding::fault(what).remedy("nginx -V; build the module for this nginx: make build"))
        }
        "emerg" if is_of_module && text.contains("dlopen()") => Some(
            Finding::fault(format!("the module cannot be loaded: {text}"))
                .remedy("install the module, or correct `load_module`"),
        ),
        "emerg" if text.contains("unknown directive \"crawlpike") => {
            let what = format!("nginx does not load the module: {text}");
            Some(
                Finding::fault(what)
                    .remedy(format!("load_module modules/{MODULE};   at the top of nginx.conf")),
            )
        }
        "emerg" | "alert" | "crit"
            if text.contains("Permission denied") && !rustix::process::geteuid().is_root() =>
        {
            Some(
                Finding::note("whether nginx takes its configuration is not checked: only root can")
                    .remedy(format!("sudo {command}")),
            )
        }
        "emerg" => {
            Some(Finding::fault(format!("nginx does not take its configuration: {text}")).remedy(command))
        }
        // Those about the document have been reported.
        "warn" if text.contains("\"crawlpike") => Some(Finding::warning(text)),
        _ => None,
    }
}

/// `1.22.1`, as nginx writes it in a number: 1022001.
fn version(word: &str) -> Option<String> {
    let number: u32 = word.parse().ok().filter(|number| *number > 1_000_000)?;
    Some(format!("{}.{}.{}", number / 1_000_000, number / 1_000 % 1_000, number % 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_nginx_that_waits_for_somebody_is_not_waited_for() {
        let ended = output_of(Command::new("sleep").arg("60"), Duration::from_millis(50));
        assert!(ended.unwrap_err().to_string().contains("did not end"));
        assert!(output_of(&mut Command::new("true"), PATIENCE).unwrap().status.success());
    }

    #[test]
    fn messages_of_nginx_become_findings() {
        let module = "/usr/lib/nginx/modules/ngx_http_crawlpike_module.so";
        for (line, expected) in [
            (
                format!(
                    "nginx: [emerg] module \"{module}\" version 1024000 instead of 1022001 in /etc/nginx/nginx.conf:1"
                ),
                "the module is for nginx 1.24.0, and this is nginx 1.22.1",
            ),
            (
                format!(
                    "nginx: [emerg] module \"{module}\" is not binary compatible in /etc/nginx/nginx.conf:1"
                ),
                "the module was built for an nginx with other options",
            ),
            (
                format!(
                    "nginx: [emerg] dlopen() \"{module}\" failed (no such file) in /etc/nginx/nginx.conf:1"
                ),
                "the module cannot be loaded: dlopen()",
            ),
            (
                "nginx: [emerg] unknown directive \"crawlpike_config\" in /etc/nginx/nginx.conf:5".into(),
                "nginx does not load the module",
            ),
            (
                "nginx: [emerg] unknown directive \"x\" in /etc/nginx/nginx.conf:5".into(),
                "nginx does not take its configuration: ",
            ),
            ("nginx: [warn] \"crawlpike_site\" has no effect".into(), "\"crawlpike_site\" has no effect"),
        ] {
            let found = message(&line, "nginx -t").unwrap();
            assert!(found.what.starts_with(expected), "{found:?}");
        }
        let dated = "2026/11/29 13:20:03 [emerg] 27532#27532: open() \"/e\" failed (2: No such file) in /n:1";
        let found = message(dated, "nginx -t").unwrap();
        assert_eq!(
            found.what,
            "nginx does not take its configuration: open() \"/e\" failed (2: No such file) in /n:1"
        );
        let dated = "2026/11/29 13:20:03 [warn] 27532#27532: \"crawlpike_site\" has no effect";
        assert_eq!(message(dated, "").unwrap().what, "\"crawlpike_site\" has no effect");
        assert!(message("nginx: [warn] the \"user\" directive makes sense only if", "").is_none());
        assert!(message("nginx: the configuration file /etc/nginx/nginx.conf syntax is ok", "").is_none());
    }
}
