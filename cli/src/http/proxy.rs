//! The proxies that the environment names, as curl reads them.

use std::env;

use ureq::{Proxy, ProxyProtocol};

/// The proxy for URLs of a scheme; `None` if there is none.
///
/// # Errors
///
/// If the environment names one that cannot be used. Going around it would be worse.
pub(super) fn of(scheme: &str) -> Result<Option<Proxy>, String> {
    let upper = scheme.to_ascii_uppercase();
    let names = [format!("{scheme}_proxy"), format!("{upper}_PROXY"), "all_proxy".into(), "ALL_PROXY".into()];
    let set = names.iter().find_map(|name| Some((name, value_of(name)?)));
    let no_proxy = value_of("no_proxy").or_else(|| value_of("NO_PROXY")).unwrap_or_default();
    match set {
        Some((name, value)) => match proxy(&value, &no_proxy) {
            Some(proxy) => Ok(Some(proxy)),
            None => Err(format!(
                "{name}: `{value}` is not a proxy that Crawlpike can use; write http://HOST:PORT or https://HOST:PORT"
            )),
        },
        None => Ok(None),
    }
}

fn value_of(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn proxy(value: &str, no_proxy: &str) -> Option<Proxy> {
    let value =
        if value.contains("://") { value.trim().to_owned() } else { format!("http://{}", value.trim()) };
    let proxy = Proxy::new(&value).ok()?;
    let protocol = proxy.protocol();
    if !matches!(protocol, ProxyProtocol::Http | ProxyProtocol::Https) {
        return None;
    }
    let mut builder = Proxy::builder(protocol).host(proxy.host()).port(proxy.port());
    if let Some(name) = proxy.username() {
        builder = builder.username(name);
    }
    if let Some(password) = proxy.password() {
        builder = builder.password(password);
    }
    for host in no_proxy.split([',', ' ']).map(str::trim).filter(|host| !host.is_empty()) {
        let suffix = host.trim_start_matches("*.").trim_start_matches('.');
        // A name stands for the domains below it, too; `*` for all.
        builder = builder.no_proxy(suffix).no_proxy(&format!(".{suffix}"));
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bypasses(no_proxy: &str, url: &str) -> bool {
        let proxy = proxy("proxy.example:3128", no_proxy).unwrap();
        assert_eq!((proxy.host(), proxy.port()), ("proxy.example", 3128));
        proxy.is_no_proxy(&url.parse().unwrap())
    }

    #[test]
    fn no_proxy_lists_domains() {
        let list = "localhost, .example.com,*.example.net,192.0.2.1";
        for url in [
            "https://localhost/",
            "https://example.com/",
            "https://a.b.example.com:8443/",
            "https://a.example.net/",
            "http://192.0.2.1/",
        ] {
            assert!(bypasses(list, url), "{url}");
        }
        for url in ["https://anexample.com/", "https://example.org/", "http://192.0.2.10/"] {
            assert!(!bypasses(list, url), "{url}");
        }
        assert!(bypasses("*", "https://example.org/") && !bypasses("", "https://example.org/"));
    }

    #[test]
    fn what_is_not_a_proxy_is_refused() {
        for value in ["socks5://a.example", "ftp://a.example", "http://", "http://a b/"] {
            assert!(proxy(value, "").is_none(), "{value}");
        }
        let with_password = proxy("http://me:s%40cret@a.example", "").unwrap();
        assert_eq!((with_password.username(), with_password.password()), (Some("me"), Some("s@cret")));
    }
}
