//! JSON in which the prefixes are elsewhere than in `prefixes`: at the paths of a [`Shape`], or where publishers that are
//! known have them.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use super::shape::{Items, Node, Shape};
use super::{BAD_NAME, Reader, entries, page};
use crate::json::slices::{self, Stopped};
use crate::source::diagnostic::Strictness;

/// The shapes of known publishers, the more specific ones first.
const KNOWN: [&str; 8] = [
    // Datadog, by product.
    "*.prefixes_ipv4[],*.prefixes_ipv6[]",
    // Ahrefs.
    "ips[]",
    // Fastly.
    "addresses[],ipv6_addresses[]",
    // Atlassian.
    "items[]",
    // Azure's service tags.
    "values[name].properties.addressPrefixes[]",
    // Oracle Cloud.
    "regions[region].cidrs[]",
    // Cloudflare's API.
    "result.ipv4_cidrs[],result.ipv6_cidrs[]",
    // GitHub's meta; its other members have no prefixes.
    "hooks[],web[],api[],git[],github_enterprise_importer[],packages[],pages[],importer[],actions[],actions_macos[],\
     codespaces[],copilot[],dependabot[]",
];

/// The way from a path to a value: what it means if the value does not fit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// By a name or an array: it should fit, so something is lost.
    Name,
    /// By `*`, or it is the document: other values may be there as well, such as a date.
    Any,
}

impl<S: Strictness> Reader<'_, '_, S> {
    /// Reads an object without `prefixes`.
    pub(super) fn deployed_object(&mut self, object: &RawValue) -> Option<()> {
        let position = self.at(object);
        let wrapped = wrapped(object);
        if !wrapped.is_empty() {
            let message = "the feed is inside another object; publish it by itself";
            self.diagnostics.lint_error(position, "JAFAR-20", message);
            for (name, feed) in wrapped {
                self.with_service(name, feed, &mut |reader| reader.object(feed))?;
            }
            return self.lose_other_feeds(object);
        }
        let mut known = KNOWN.iter().filter_map(|text| Shape::parse(text).ok()?.paths);
        let Some(paths) = known.find(|paths| leads_to_an_entry(object, paths)) else {
            return self.refuse_unknown(object, "unknown shape");
        };
        let message = r#"write an object with "formatVersion", "synctoken", "creationTime" and "prefixes""#;
        self.diagnostics.lint_error(position, "JAFAR-20", message);
        self.at_paths(object, &paths)
    }

    /// Reports the members beside feeds that look like feeds, and are none.
    fn lose_other_feeds(&mut self, object: &RawValue) -> Option<()> {
        let all = slices::each_member(object, &mut |_, value| {
            if is_feed(value) || slices::member(value, "prefixes").is_none() {
                return Some(());
            }
            self.lose(value, "JAFAR-9", "`prefixes` must be an array; this part of the feed is ignored")
        });
        all.ok()
    }

    /// Reads the feeds in a web page: those of the specified format, or those at the paths of the shape.
    pub(super) fn page(&mut self, text: &str, shape: &Shape) -> Option<()> {
        let mut is_empty = true;
        page::each_json(text, &mut |value| {
            let is_listed = match &shape.paths {
                Some(paths) => leads_to_an_entry(value, paths),
                None => is_feed(value) || !wrapped(value).is_empty(),
            };
            if !is_listed {
                return Some(());
            }
            is_empty = false;
            self.nesting(value.get())?;
            match &shape.paths {
                Some(paths) => self.at_paths(value, paths),
                None => self.object(value),
            }
        })?;
        if is_empty {
            let message = match shape.paths {
                Some(_) => {
                    format!("the page has no JSON with prefixes at `{shape}`; check the URL and the path")
                }
                None => "the page has no JSON object with the key `prefixes`; check the URL".into(),
            };
            self.diagnostics.error(None, "JAFAR-20", message);
            return None;
        }
        self.diagnostics.lint_error(None, "JAFAR-20", "the feed is inside a page; publish it by itself");
        Some(())
    }

    /// Reads the entries at paths.
    pub(super) fn at_paths(&mut self, value: &RawValue, paths: &Node) -> Option<()> {
        self.is_found = false;
        self.walk(value, paths, By::Any)?;
        if self.is_found {
            Some(())
        } else {
            self.refuse_unknown(value, "nothing is at the paths of `shape`")
        }
    }

    fn walk(&mut self, value: &RawValue, node: &Node, by: By) -> Option<()> {
        match (value.get().as_bytes().first(), &node.items) {
            (Some(b'"' | b'{'), _) if node.is_entry => {
                self.is_found = true;
                self.entry_of_any_kind(value)
            }
            (Some(b'['), Some(items)) => {
                self.each_item(value, &mut |reader, item| reader.walk_item(item, items))
            }
            (Some(b'{'), _) if node.has_members() => self.walk_members(value, node, by),
            _ if by == By::Any => Some(()),
            _ => {
                let expected = match node {
                    Node { is_entry: true, .. } => "a string or an object",
                    Node { items: Some(_), .. } => "an array",
                    _ => "an object",
                };
                self.lose(value, "JAFAR-20", &format!("expected {expected}"))
            }
        }
    }

    fn walk_item(&mut self, item: &RawValue, items: &Items) -> Option<()> {
        let service = items.service.as_deref().and_then(|key| slices::member(item, key));
        match service.and_then(slices::string) {
            Some(name) => {
                self.with_service(name, item, &mut |reader| reader.walk(item, &items.node, By::Name))
            }
            None => self.walk(item, &items.node, By::Name),
        }
    }

    fn walk_member(
        &mut self,
        (name, value): (Cow<'_, str>, &RawValue),
        node: &Node,
        seen: &mut u32,
    ) -> Option<()> {
        let named = node.members.iter().zip(0..).find(|((known, _), _)| **known == *name);
        if let Some(((_, next), place)) = named {
            let bit = 1_u32.checked_shl(place).unwrap_or(0);
            if *seen & bit != 0 {
                let message = format!("duplicate key `{name}`; the first one counts");
                return self.lose(value, "JAFAR-1", &message);
            }
            *seen |= bit;
            self.walk(value, next, By::Name)?;
        }
        match &node.any {
            Some(any) => self.with_service(name, value, &mut |reader| reader.walk(value, any, By::Any)),
            None => Some(()),
        }
    }

    fn walk_members(&mut self, object: &RawValue, node: &Node, by: By) -> Option<()> {
        let mut seen = 0_u32;
        let walked =
            slices::each_member(object, &mut |name, value| self.walk_member((name, value), node, &mut seen));
        match walked {
            Err(Stopped::ByStep) => None,
            Err(Stopped::ByName) => self.lose(object, "JAFAR-1", BAD_NAME),
            Ok(()) if seen == 0 && by == By::Name && node.any.is_none() => {
                let mut message = String::from("the object has none of the keys");
                for (number, (key, _)) in node.members.iter().enumerate() {
                    message += if number == 0 { " `" } else { ", `" };
                    message += key;
                    message += "`";
                }
                self.lose(object, "JAFAR-20", &message)
            }
            Ok(()) => Some(()),
        }
    }

    /// Reads a part of which the entries belong to a service, unless they name another one.
    fn with_service(
        &mut self,
        name: Cow<'_, str>,
        part: &RawValue,
        read: &mut dyn FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        // It would end up in headers and logs.
        let is_plain = !name.chars().any(char::is_control);
        if !is_plain {
            self.lose(
                part,
                "JAFAR-12",
                "the name of the service contains control characters; it is ignored",
            )?;
        }
        let outer = core::mem::replace(&mut self.service, is_plain.then(|| name.into_owned()));
        let done = read(self);
        self.service = outer;
        done
    }
}

/// The members that are feeds, as in `{"amazonbot":{"prefixes":[…]}}`.
fn wrapped(object: &RawValue) -> Vec<(Cow<'_, str>, &RawValue)> {
    let mut feeds = Vec::new();
    let all = slices::each_member(object, &mut |name, value| {
        if is_feed(value) {
            feeds.push((name, value));
        }
        Some(())
    });
    if all.is_ok() { feeds } else { Vec::new() }
}

fn is_feed(value: &RawValue) -> bool {
    slices::member(value, "prefixes").is_some_and(|prefixes| prefixes.get().starts_with('['))
}

/// Returns true if a path leads to what may be an entry. Of an array, only the first item is looked at.
fn leads_to_an_entry(value: &RawValue, node: &Node) -> bool {
    if node.is_entry {
        return entries::may_be_entry(value);
    }
    let mut is_found = false;
    if let Some(items) = &node.items {
        let _ = slices::each_element(value, &mut |item| {
            is_found = leads_to_an_entry(item, &items.node);
            None
        });
    }
    if node.has_members() {
        let _ = slices::each_member(value, &mut |name, member| {
            let named = node.members.iter().filter(|(known, _)| **known == *name).map(|(_, next)| next);
            is_found = named.chain(node.any.as_deref()).any(|next| leads_to_an_entry(member, next));
            (!is_found).then_some(())
        });
    }
    is_found
}
