//! Feeds, entry by entry: draft-illyes-aipref-jafar-00, 2; RFC 8805, 2; docs/feeds.md.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};
use serde_json::Value;

/// The place of a prefix: RFC 8805, 2.1.1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// ISO 3166-2.
    pub region: Option<String>,
    /// Free text.
    pub city: Option<String>,
}

/// A prefix with what the feed says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The prefix.
    pub prefix: IpNet,
    /// JAFAR-18: all services that it is listed with.
    pub services: Vec<String>,
    /// Only in a geofeed.
    pub place: Place,
}

/// The content of a version of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// The entries that can be read, each prefix once.
    pub entries: Vec<Entry>,
    /// The number of those that cannot.
    pub unreadable: usize,
    /// True if there are entries that can be read, and are not for the publisher to make.
    pub has_others: bool,
    /// `creationTime`, which sorts as text.
    pub created: Option<String>,
}

/// A prefix in CIDR notation, or an address. RFC 4632, 3.1, RFC 4291, 2.3: no bits behind the prefix. "`::ffff:192.0.2.0/120` means
/// `192.0.2.0/24`."
pub(crate) fn prefix(text: &str) -> Option<IpNet> {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let length = match length {
        // Neither `+8` nor `08` is a length.
        Some(digits)
            if digits.bytes().all(|digit| digit.is_ascii_digit())
                && (digits == "0" || !digits.starts_with('0')) =>
        {
            digits.parse().ok()?
        }
        Some(_) => return None,
        None => bits,
    };
    let prefix = IpNet::new(address, length).ok().filter(|prefix| prefix.trunc() == *prefix)?;
    match prefix {
        IpNet::V6(mapped) if mapped.prefix_len() >= 96 => match mapped.addr().to_ipv4_mapped() {
            Some(address) => Ipv4Net::new(address, mapped.prefix_len() - 96).ok().map(IpNet::V4),
            None => Some(prefix),
        },
        _ => Some(prefix),
    }
}

/// Reads a feed. `None`: it is unusable as a whole.
pub(crate) fn read(format: &str, text: &[u8], authority: &[IpNet]) -> Option<Content> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let content = match format {
        "jafar" => jafar(text)?,
        "geofeed" => geofeed(text, authority),
        _ => cidr(text),
    };
    // "It has entries, but none can be read."
    (!content.entries.is_empty() || content.has_others || content.unreadable == 0).then_some(content)
}

impl Content {
    /// "If a prefix occurs twice, the first entry counts"; in JSON, its services are added.
    fn add(&mut self, prefix: IpNet, service: Option<&str>, place: Place) {
        match self.entries.iter_mut().find(|entry| entry.prefix == prefix) {
            Some(entry) => {
                let is_new = |service: &&str| !entry.services.iter().any(|known| known == service);
                let new = service.filter(is_new).map(str::to_owned);
                entry.services.extend(new);
            }
            None => {
                let services = service.map(str::to_owned).into_iter().collect();
                self.entries.push(Entry { prefix, services, place });
            }
        }
    }
}

/// draft-illyes-aipref-jafar-00, 2.1 to 2.3 and 3.2.
fn jafar(text: &str) -> Option<Content> {
    let document: Value = serde_json::from_str(text).ok()?;
    let object = document.as_object()?;
    // 3.2: "a major version number greater than the major version it is programmed to handle".
    if let Some(version) = object.get("formatVersion") {
        let major: u64 = version.as_str()?.split('.').next()?.parse().ok()?;
        if major > 1 {
            return None;
        }
    }
    let created = object.get("creationTime").and_then(Value::as_str).map(str::to_owned);
    let mut content = Content { created, ..Content::default() };
    for entry in object.get("prefixes")?.as_array()? {
        // 2.3: "exactly one of either".
        let value = match (entry.get("ipv4Prefix"), entry.get("ipv6Prefix")) {
            (Some(v4), None) => {
                v4.as_str().and_then(prefix).filter(|_| v4.as_str().is_some_and(|text| !text.contains(':')))
            }
            (None, Some(v6)) => {
                v6.as_str().and_then(prefix).filter(|_| v6.as_str().is_some_and(|text| text.contains(':')))
            }
            _ => None,
        };
        let service = entry.get("service").and_then(Value::as_str);
        match value {
            Some(prefix) => content.add(prefix, service, Place::default()),
            None => content.unreadable += 1,
        }
    }
    Some(content)
}

/// "One prefix or address for each line, `#` or `;` starts a comment."
fn cidr(text: &str) -> Content {
    let mut content = Content::default();
    for line in text.split(['\n', '\r']) {
        match line.split(['#', ';']).next().map(str::trim).unwrap_or_default() {
            "" => {}
            said => match prefix(said) {
                Some(prefix) => content.add(prefix, None, Place::default()),
                None => content.unreadable += 1,
            },
        }
    }
    content
}

/// RFC 8805, 2.1.
fn geofeed(text: &str, authority: &[IpNet]) -> Content {
    let mut content = Content::default();
    for line in text.split(['\n', '\r']) {
        let fields = csv(line);
        if fields.iter().all(String::is_empty) && fields.len() == 1 {
            continue;
        }
        let field = |place: usize| fields.get(place).map(|field| field.trim()).unwrap_or_default();
        // 2.1.3: without a prefix, or with an optional field that cannot be read, the entry is discarded.
        let Some((prefix, place)) = prefix(field(0)).zip(place(field(1), field(2), field(3))) else {
            content.unreadable += 1;
            continue;
        };
        // 3.2: entries of which the publisher is not the authority are ignored.
        let is_within = |known: &IpNet| known.contains(&prefix);
        match authority.is_empty() || authority.iter().any(is_within) {
            true => content.add(prefix, None, place),
            false => content.has_others = true,
        }
    }
    content
}

/// The fields of a line: RFC 4180, 2, with comments to the end of the line.
fn csv(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let field = fields.last_mut().expect("there is one");
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' if is_quoted || field.is_empty() => is_quoted = !is_quoted,
            '#' if !is_quoted => break,
            ',' if !is_quoted => fields.push(String::new()),
            _ => field.push(character),
        }
    }
    let last = fields.last_mut().expect("there is one");
    *last = last.trim().to_owned();
    fields
}

/// 2.1.1.2 to 2.1.1.4, and 2.1.2: `ZZ` stands for an unknown place. `None`: a field cannot be read.
fn place(country: &str, region: &str, city: &str) -> Option<Place> {
    let is_code = |text: &str| text.len() == 2 && text.bytes().all(|letter| letter.is_ascii_alphabetic());
    let region = region.to_ascii_uppercase();
    // A region without a country is one of its own country.
    let own = region.split('-').next().unwrap_or_default();
    let country = if country.is_empty() { own.to_owned() } else { country.to_ascii_uppercase() };
    if !country.is_empty() && !is_code(&country) {
        return None;
    }
    if let Some((of, part)) = region.split_once('-') {
        let is_part =
            (1..=3).contains(&part.len()) && part.bytes().all(|octet| octet.is_ascii_alphanumeric());
        // GEO-7: "its country equals alpha2code".
        if !is_part || of != country {
            return None;
        }
    } else if !region.is_empty() {
        return None;
    }
    if country == "ZZ" {
        return Some(Place::default());
    }
    let said = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Some(Place { country: said(&country), region: said(&region), city: said(city) })
}

/// "A publisher cannot own an address that IANA reserves": the table of "Special-purpose prefixes".
const SPECIAL: [&str; 23] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/32",
    "2001:2::/48",
    "2002::/16",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "ff00::/8",
];

/// Returns true if no publisher can own the address.
pub(crate) fn is_special(address: IpAddr) -> bool {
    SPECIAL.iter().filter_map(|text| prefix(text)).any(|prefix| prefix.contains(&address))
}

/// The number of addresses of a family in a list of prefixes, each counted once.
pub(crate) fn addresses(prefixes: &[IpNet], is_v4: bool) -> u128 {
    let of_family = prefixes.iter().filter(|prefix| prefix.addr().is_ipv4() == is_v4);
    let is_outermost =
        |prefix: &&IpNet| !prefixes.iter().any(|other| other != *prefix && other.contains(*prefix));
    of_family.filter(is_outermost).map(size).sum()
}

fn size(prefix: &IpNet) -> u128 {
    1_u128.checked_shl(u32::from(prefix.max_prefix_len() - prefix.prefix_len())).unwrap_or(u128::MAX)
}

/// The addresses of the first list that are not in the second: those of its prefixes without the parts that are.
pub(crate) fn addresses_gone(old: &[IpNet], new: &[IpNet], is_v4: bool) -> u128 {
    let mut common: Vec<IpNet> = Vec::new();
    for (a, b) in old.iter().flat_map(|a| new.iter().map(move |b| (a, b))) {
        let both = if a.contains(b) { b } else { a };
        if (a.contains(b) || b.contains(a)) && !common.contains(both) {
            common.push(*both);
        }
    }
    addresses(old, is_v4) - addresses(&common, is_v4)
}
