//! The servers that a query may reach: which redirects stay where the operator meant, and where private addresses are meant.

use std::net::Ipv4Addr;

use url::{Host, Origin, Url};

use super::public::{OnlyPrivate, is_public};

/// The private addresses, those of no server on the Internet, that a query may lead to.
#[derive(Clone, Debug)]
pub(crate) enum Reach {
    /// All.
    Everywhere,
    /// Those of the URL itself, whatever its name leads to, but of no other one after a redirect.
    AtUrl,
    /// The one that the URL itself has in the place of a name, and those of these origins.
    Written {
        origins: Vec<Origin>,
        /// The way to permit another one.
        advice: &'static str,
    },
}

impl Reach {
    /// Returns true if the host of a URL, to which one query after another has led from the first one, may have a private
    /// address.
    pub(super) fn may_be_private(&self, first: &Url, url: &Url) -> bool {
        match self {
            Self::Everywhere => true,
            Self::AtUrl => is_at(first, url),
            Self::Written { origins, .. } => {
                let is_address = !matches!(url.host(), Some(Host::Domain(_)) | None);
                (is_address && is_at(first, url)) || origins.contains(&url.origin())
            }
        }
    }

    /// The remedy if such an address is meant.
    pub(super) fn advice(&self) -> &'static str {
        match self {
            Self::Everywhere | Self::AtUrl => "if you mean that server, write its own URL into `url`",
            Self::Written { advice, .. } => advice,
        }
    }
}

/// Returns true if a URL has the origin of the first one, or the same on https.
pub(crate) fn is_at(first: &Url, url: &Url) -> bool {
    let has_default_ports = first.port().is_none() && url.port().is_none();
    let is_upgrade = first.scheme() == "http" && url.scheme() == "https" && has_default_ports;
    first.origin() == url.origin() || (is_upgrade && first.host() == url.host())
}

/// The reason why a URL leads to a private address, if no resolver is needed to know that. A proxy may have another one.
pub(super) fn is_private(url: &Url) -> Option<String> {
    let address = match url.host()? {
        Host::Ipv4(address) => address.into(),
        Host::Ipv6(address) => address.into(),
        Host::Domain(name) => {
            let plain = name.trim_end_matches('.');
            let is_of_this_machine = plain == "localhost" || plain.ends_with(".localhost");
            return is_of_this_machine
                .then(|| format!("the name {name} {}", OnlyPrivate(Ipv4Addr::LOCALHOST.into())));
        }
    };
    (!is_public(address)).then(|| format!("{url} leads to the private address {address}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn only_the_same_origin_and_its_https_are_where_the_url_is() {
        let is_at = |first: &str, to: &str| is_at(&url(first), &url(to));
        for (first, to) in [
            ("https://a.example/", "https://a.example:443/b"),
            ("http://a.example/", "https://a.example/"),
            ("http://A.example:80/", "https://a.example:443/"),
            ("http://127.0.0.1/", "http://2130706433/"),
        ] {
            assert!(is_at(first, to), "{first} {to}");
        }
        for (first, to) in [
            ("https://a.example/", "https://www.a.example/"),
            ("https://a.example/", "https://a.example:8443/"),
            ("https://a.example/", "http://a.example/"),
            ("http://a.example:8080/", "https://a.example/"),
            ("http://a.example/", "https://a.example:8443/"),
            ("https://a.example/", "https://a.example./"),
        ] {
            assert!(!is_at(first, to), "{first} {to}");
        }
    }

    #[test]
    fn addresses_in_any_spelling_are_addresses() {
        for private in [
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://017700000001/",
            "http://0/",
            "http://[::]/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://[64:ff9b::a00:1]/",
            "http://[fe80::1]/",
            "http://169.254.169.254/",
            "http://100.64.0.1/",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://１２７.0.0.1/",
            "http://[2002:7f00:1::]/",
        ] {
            assert!(is_private(&url(private)).is_some(), "{private}");
        }
        for public in
            ["http://8.8.8.8/", "http://[2606:4700::1111]/", "http://localhost.example/", "http://a.example/"]
        {
            assert_eq!(is_private(&url(public)), None, "{public}");
        }
    }

    #[test]
    fn private_addresses_are_reached_where_they_are_meant() {
        let written = |origins: &[&str]| Reach::Written {
            origins: origins.iter().map(|origin| url(origin).origin()).collect(),
            advice: "",
        };
        for (reach, first, to, expected) in [
            (Reach::AtUrl, "https://mirror/a", "https://mirror/b", true),
            (Reach::AtUrl, "https://mirror/a", "https://10.0.0.1/b", false),
            (Reach::AtUrl, "https://10.0.0.1/a", "https://10.0.0.1:8443/b", false),
            (written(&[]), "http://10.0.0.1/a", "http://10.0.0.1/b", true),
            (written(&[]), "http://app/a", "http://app/a", false),
            (written(&["http://app"]), "http://app/a", "http://app/a", true),
            (written(&["http://app"]), "http://app/a", "http://app:8080/a", false),
            (written(&["https://10.0.0.2"]), "https://a.example/", "https://10.0.0.2/", true),
        ] {
            assert_eq!(reach.may_be_private(&url(first), &url(to)), expected, "{first} {to} {reach:?}");
        }
    }
}
