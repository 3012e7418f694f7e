//! nginx knows the real address of its clients: from that of a proxy in front, no claim can be verified.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::IpAddr;
use std::path::Path;

use crawlpike_core::Doubt;

use super::finding::Finding;
use super::situation::Situation;
use crate::nginx_conf::{Directive, NginxConf};

const TRUST: &str = "set_real_ip_from ADDRESS-OF-THE-PROXY; real_ip_header X-Forwarded-For; real_ip_recursive on;   in the block http";

/// The number of bytes at the end of an access log that are looked at.
const TAIL: u64 = 64 << 10;

/// The fewest requests that say anything.
const FEWEST: usize = 20;

pub(super) fn check(situation: &Situation) -> Vec<Finding> {
    let Some(conf) = situation.nginx.as_ref().filter(|conf| conf.crawlpike_config().is_some()) else {
        return Vec::new();
    };
    let trusted = conf.all_within("http", "set_real_ip_from");
    let logged = logged(conf);
    match trusted.is_empty() {
        true => without_trust(conf, logged),
        false => with_trust(conf, &trusted).into_iter().chain(logged).collect(),
    }
}

/// nginx trusts no proxy: signs that there is one.
fn without_trust(conf: &NginxConf, logged: Option<Finding>) -> Vec<Finding> {
    if let Some(finding) = logged {
        return vec![finding];
    }
    let listens = conf.all_within("http", "listen");
    if let Some(listen) =
        listens.iter().find(|listen| listen.arguments.iter().any(|word| word == "proxy_protocol"))
    {
        let what =
            "a proxy in front sends the client's address by the PROXY protocol, and nginx does not use it";
        let remedy = TRUST.replace("X-Forwarded-For", "proxy_protocol");
        return vec![Finding::fault(what).at(listen.place()).remedy(remedy)];
    }
    if !listens.is_empty() && listens.iter().all(|listen| is_local(listen.argument())) {
        let what =
            "nginx listens at local addresses only, so a proxy is in front, and each request has its address";
        return vec![Finding::warning(what).at(listens[0].place()).remedy(TRUST)];
    }
    let forwarded =
        |format: &&&Directive| format.arguments.iter().any(|word| word.contains("$http_x_forwarded_for"));
    let formats = conf.all_within("http", "log_format");
    let format = formats.iter().find(forwarded);
    let note = format.map(|format| {
        let what = "X-Forwarded-For is logged, and nginx does not take the client's address from it: right only if no proxy is in front";
        Finding::note(what).at(format.place()).remedy(TRUST)
    });
    note.into_iter().collect()
}

/// nginx trusts proxies: whether it does so in a way that works.
fn with_trust(conf: &NginxConf, trusted: &[&Directive]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(everybody) =
        trusted.iter().find(|directive| ["0.0.0.0/0", "::/0"].contains(&directive.argument()))
    {
        let what = "every client can choose its address, because nginx trusts everybody to state it";
        let remedy = "set_real_ip_from with the addresses of your proxies only";
        findings.push(Finding::fault(what).at(everybody.place()).remedy(remedy));
    }
    let header = conf.all_within("http", "real_ip_header");
    let has_protocol = conf
        .all_within("http", "listen")
        .iter()
        .any(|listen| listen.arguments.iter().any(|word| word == "proxy_protocol"));
    if header.is_empty() {
        let what = "without `real_ip_header`, nginx takes the client's address from X-Real-IP";
        let line =
            if has_protocol { "real_ip_header proxy_protocol;" } else { "real_ip_header X-Forwarded-For;" };
        let remedy = format!("if your proxy does not send X-Real-IP: {line}");
        findings.push(Finding::note(what).at(trusted[0].place()).remedy(remedy));
    }
    findings
}

/// Returns true for the address of `listen` if only this machine or a private network reaches it.
fn is_local(listen: &str) -> bool {
    if listen.starts_with("unix:") || listen.starts_with("localhost") {
        return true;
    }
    let host = match listen.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => listen.split(':').next().unwrap_or_default(),
    };
    host.parse().is_ok_and(|address: IpAddr| !address.is_unspecified() && is_private(address))
}

fn is_private(address: IpAddr) -> bool {
    Doubt::of(address) == Some(Doubt::PrivateAddress)
}

/// The clients in the access logs are private.
fn logged(conf: &NginxConf) -> Option<Finding> {
    conf.all_within("http", "access_log").into_iter().find_map(|log| {
        let path = Path::new(log.argument());
        // Opening a pipe would wait until somebody writes to it.
        let is_log = path.is_absolute() && path.is_file();
        let addresses = if is_log { last_clients(path).unwrap_or_default() } else { Vec::new() };
        let private = addresses.iter().filter(|address| is_private(**address)).count();
        let is_telling = addresses.len() >= FEWEST && private * 2 > addresses.len();
        is_telling.then(|| {
            let what = format!(
                "{private} of the last {} requests in {} come from private addresses, from which no agent is verified",
                addresses.len(),
                path.display()
            );
            Finding::fault(what).at(log.place()).remedy(TRUST)
        })
    })
}

/// The addresses at the beginnings of the last lines of a log.
fn last_clients(path: &Path) -> io::Result<Vec<IpAddr>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    let text = String::from_utf8_lossy(&tail);
    Ok(text.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_to_listen_at_are_local_or_not() {
        for (listen, expected) in [
            ("127.0.0.1:8080", true),
            ("unix:/run/nginx.sock", true),
            ("[::1]:80", true),
            ("10.1.2.3:80", true),
            ("localhost:80", true),
            ("80", false),
            ("*:80", false),
            ("0.0.0.0:80", false),
            ("[::]:443", false),
            ("198.51.100.1:80", false),
        ] {
            assert_eq!(is_local(listen), expected, "{listen}");
        }
    }
}
