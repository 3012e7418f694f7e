//! Writing a feed, for those who read feeds and for those who do not.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use ipnet::IpNet;
use serde_json::{Value, json};
use twox_hash::XxHash3_64;

use super::{Content, Kind, aggregate, label};
use crate::feed::FeedValue;

impl Content {
    /// A text that changes with the content.
    pub fn token(&self, notes: Option<&str>) -> String {
        let content = format!("{}\n{}", notes.unwrap_or_default(), self.jafar_entries());
        format!("{:016x}", XxHash3_64::oneshot(content.as_bytes()))
    }

    /// The feed in its own format. `created` is the `creationTime` of IP ranges.
    pub fn feed(&self, created: &str, notes: Option<&str>) -> String {
        match self.kind {
            Kind::Jafar => self.jafar(created, notes),
            Kind::Geofeed => self.geofeed(),
        }
    }

    fn jafar(&self, created: &str, notes: Option<&str>) -> String {
        let mut text = String::from("{\n  \"formatVersion\": \"1.0\",\n");
        let token = self.token(notes);
        for (key, value) in [("synctoken", Some(&*token)), ("creationTime", Some(created)), ("notes", notes)]
        {
            if let Some(value) = value {
                text += &format!("  \"{key}\": {},\n", Value::from(value));
            }
        }
        text += "  \"prefixes\": [\n";
        text += &self.jafar_entries();
        text + "\n  ]\n}\n"
    }

    fn jafar_entries(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (prefix, value) in &self.entries {
            let key = if matches!(prefix, IpNet::V4(_)) { "ipv4Prefix" } else { "ipv6Prefix" };
            let FeedValue::Range { services } = value else { continue };
            if services.is_empty() {
                lines.push(format!("    {{\"{key}\": \"{prefix}\"}}"));
            }
            for service in services {
                let service = Value::from(&**service);
                lines.push(format!("    {{\"{key}\": \"{prefix}\", \"service\": {service}}}"));
            }
        }
        lines.join(",\n")
    }

    /// RFC 8805, without postal codes (section 4).
    fn geofeed(&self) -> String {
        let mut text = String::from("# prefix,alpha2code,region,city,postal_code\n");
        for (prefix, value) in &self.entries {
            let FeedValue::Place { region, city, .. } = value else { continue };
            let (country, region) = (label(value), region.as_deref().unwrap_or_default());
            // A String takes everything.
            let _ = writeln!(
                text,
                "{prefix},{country},{region},{},",
                quoted(city.as_deref().unwrap_or_default())
            );
        }
        text
    }

    /// The prefixes, one a line, whatever the feed says of them.
    pub fn cidr(&self) -> String {
        let mut all: BTreeMap<IpNet, ()> = self.entries.keys().map(|prefix| (*prefix, ())).collect();
        aggregate::aggregate(&mut all);
        all.keys().map(|prefix| format!("{prefix}\n")).collect()
    }

    /// A `geo` block for nginx's `http` context, which sets a variable to the services of the address, or to `name` if it has
    /// none; for places, to the country.
    pub fn nginx_geo(&self, name: &str) -> String {
        let mut text = format!("geo ${name} {{\n    default \"\";\n");
        for (prefix, value) in &self.entries {
            let label = self.label_or(value, name);
            let escaped = label.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(text, "    {prefix} \"{escaped}\";");
        }
        text + "}\n"
    }

    /// Envoy's filter `envoy.filters.http.ip_tagging`: the tags are the services of the address, or `name` if it has none; for
    /// places, the country.
    pub fn envoy_ip_tagging(&self, name: &str) -> String {
        let mut tags: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let entries: Vec<_> = self.entries.iter().map(|(prefix, value)| (*prefix, value)).collect();
        for (prefix, value) in aggregate::disjoint(&entries) {
            let range = json!({ "address_prefix": format!("{}", prefix.network()), "prefix_len": prefix.prefix_len() });
            match value {
                FeedValue::Range { services } if !services.is_empty() => {
                    for service in services {
                        tags.entry(String::from(&**service)).or_default().push(range.clone());
                    }
                }
                // An address without a place has no tag.
                value => {
                    let label = self.label_or(value, name);
                    if !label.is_empty() {
                        tags.entry(label).or_default().push(range);
                    }
                }
            }
        }
        let tags: Vec<Value> =
            tags.into_iter().map(|(name, list)| json!({ "ip_tag_name": name, "ip_list": list })).collect();
        let filter = json!({
            "name": "envoy.filters.http.ip_tagging",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.ip_tagging.v3.IPTagging",
                "request_type": "BOTH",
                "ip_tags": tags,
            },
        });
        format!("{filter:#}\n")
    }

    fn label_or(&self, value: &FeedValue, name: &str) -> String {
        let label = label(value);
        if label.is_empty() && self.kind == Kind::Jafar { name.into() } else { label }
    }
}

/// A field as RFC 4180 quotes it.
fn quoted(field: &str) -> String {
    match field.contains([',', '"', '#', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.into(),
    }
}
