//! The addresses that names may resolve to: a URL of another party's server must not reach one in a private network. The
//! library connects to the addresses that are returned here, and asks no second time.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::mpsc::sync_channel;

use crawlpike_core::special_purpose;
use crawlpike_report::threads::start;
use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;
use ureq::unversioned::transport::time::Duration;

/// Resolves names, to their public addresses only or to all.
#[derive(Debug)]
pub(super) struct NameResolver {
    may_be_private: bool,
}

impl NameResolver {
    pub(super) fn new(may_be_private: bool) -> Self {
        Self { may_be_private }
    }
}

/// A name has no public address.
#[derive(Debug)]
pub(super) struct OnlyPrivate(pub(super) IpAddr);

impl fmt::Display for OnlyPrivate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "has only private addresses, such as {}", self.0)
    }
}

impl std::error::Error for OnlyPrivate {}

impl Resolver for NameResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let all = resolve(uri, config, timeout)?;
        // The proxy looks up the name itself, and may be anywhere.
        let is_of_proxy = config.proxy().is_some_and(|proxy| proxy.uri() == uri && !proxy.is_no_proxy(uri));
        if self.may_be_private || is_of_proxy {
            return Ok(all);
        }
        let mut public = self.empty();
        all.iter().filter(|address| is_public(address.ip())).for_each(|address| public.push(*address));
        match (public.is_empty(), all.first()) {
            (true, Some(private)) => Err(Error::Other(OnlyPrivate(private.ip()).into())),
            _ => Ok(public),
        }
    }
}

/// Resolves a name within some time, in a thread of its own. The library would panic if it could not start one.
fn resolve(uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
    let (uri, config) = (uri.clone(), config.clone());
    let (sender, resolved) = sync_channel(1);
    let for_ever = NextTimeout { after: Duration::NotHappening, ..timeout };
    start(move || sender.send(DefaultResolver::default().resolve(&uri, &config, for_ever)).ok())?;
    resolved.recv_timeout(*timeout.after).unwrap_or(Err(Error::Timeout(timeout.reason)))
}

/// Returns true if an address is one of the public Internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => is_public_v4(address),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    special_purpose(address.into()).is_none()
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // The well-known prefix of NAT64.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)))
        }
        [first, ..] => first & 0xe000 == 0x2000 && special_purpose(address.into()).is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SIG-7
    #[test]
    fn sig_7_what_is_not_of_the_public_internet_is_private() {
        for private in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.168.0.1",
            "198.19.0.1",
            "203.0.113.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:10.0.0.1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2001:4860:4860::8888",
            "2606:4700::1111",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }
}
