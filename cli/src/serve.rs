//! `crawlpike serve`: answers other proxies.

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use crawlpike_serve::dialect::{Dialect, dialect};
use crawlpike_serve::{Address, NameServer, Settings, Trust};
use ipnet::IpNet;

use crate::dns;
use crate::failure::Failure;

/// Answer proxies that ask before they pass a request on
///
/// Proxies ask over HTTP (forward-auth, `auth_request`) or by gRPC (Envoy's ext_authz). The decisions are those of the nginx module and
/// of Envoy's filters. The configuration and its files are watched; SIGHUP reads them at once, and SIGTERM lets requests finish.
///
/// Over HTTP, the first part of the path names the proxy's dialect: traefik, caddy, nginx, envoy, haproxy, kong or apisix.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("listeners").required(true).multiple(true).args(["http", "grpc"]), after_help = "\
Examples:
  crawlpike serve --config crawlpike.json --http 127.0.0.1:9191 --admin 127.0.0.1:9192
      For Caddy: forward_auth 127.0.0.1:9191 { uri /caddy; copy_headers X-Crawlpike }
  crawlpike serve --config crawlpike.json --grpc unix:/run/crawlpike/grpc.sock
      For the filter ext_authz of Envoy.
  crawlpike serve --config crawlpike.json --http 10.0.0.5:9191 --trust 10.0.0.0/24
      For proxies on other machines, which must be named.")]
pub(crate) struct Arguments {
    /// The configuration document, or a file that `crawlpike compile` wrote
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The address for forward-auth over HTTP/1.1: IP:PORT, unix:PATH, or systemd
    #[arg(long, value_name = "ADDRESS")]
    http: Option<Address>,
    /// The address for envoy.service.auth.v3.Authorization
    #[arg(long, value_name = "ADDRESS")]
    grpc: Option<Address>,
    /// The address for /healthz, /readyz and /metrics
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<Address>,
    /// The dialect of all questions over HTTP, whose paths then name none
    #[arg(long, value_parser = dialect)]
    dialect: Option<&'static Dialect>,
    /// Addresses of proxies that may ask, and that are passed over in X-Forwarded-For; can be repeated [default: loopback]
    #[arg(long, value_name = "PREFIX", value_parser = prefix)]
    trust: Vec<IpNet>,
    /// The resolver that is asked for names of addresses, which verify agents without ranges: system, or an address
    #[arg(long, value_name = "RESOLVER", value_parser = resolver)]
    rdns: Option<NameServer>,
}

fn prefix(text: &str) -> Result<IpNet, &'static str> {
    let prefix = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    prefix.map_err(|_| "expected a prefix such as 10.0.0.0/8, or an address")
}

fn resolver(text: &str) -> Result<NameServer, String> {
    if text == "system" {
        return Ok(NameServer::System);
    }
    dns::resolver(text).map(NameServer::At)
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let Arguments { config, http, grpc, admin, dialect, trust, rdns } = arguments;
    let settings = Settings { config, http, grpc, admin, dialect, trust: Trust::new(trust), names: rdns };
    match crawlpike_serve::run(settings) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(reason) if reason.is_empty() => Err(Failure::Reported),
        Err(reason) => Err(Failure::because(reason)),
    }
}
