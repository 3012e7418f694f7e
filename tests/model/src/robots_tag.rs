//! Robots-Tag: draft-illyes-repext-00, 2.1 and 2.2; the lists of the later drafts; docs/robots-tag.md.

use sfv::{BareItem, Item, ListEntry, Parser, Version};

use crate::edge::Site;
use crate::path::Path;

/// The rules that are known to have no value, and the beginnings of those with one.
const PLAIN: [&str; 9] = [
    "all",
    "none",
    "noindex",
    "nofollow",
    "nosnippet",
    "noarchive",
    "noimageindex",
    "notranslate",
    "indexifembedded",
];
const VALUED: [&str; 2] = ["unavailable_after", "max-"];

/// The addressees with their rules: `*` first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag(Vec<(String, Vec<String>)>);

fn has_value(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == VALUED[0] || name.starts_with(VALUED[1])
}

fn is_known(rule: &str) -> bool {
    PLAIN.iter().any(|known| known.eq_ignore_ascii_case(rule)) || has_value(rule)
}

fn is_token(text: &str) -> bool {
    let is_part = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'-' || octet == b'_';
    text == "*" || !text.is_empty() && text.bytes().all(is_part)
}

/// A rule as it is compared: without regard to case, and to blanks around its colon.
fn key(rule: &str) -> String {
    let parts: Vec<&str> = rule.splitn(2, ':').map(str::trim).collect();
    parts.join(":").to_ascii_lowercase()
}

impl Default for Tag {
    fn default() -> Self {
        Self(vec![("*".into(), Vec::new())])
    }
}

impl Tag {
    /// 2.1.1: "Duplicate product tokens must be merged and the rules deduplicated."
    fn add(&mut self, token: &str, rule: Option<String>) {
        let place =
            self.0.iter().position(|(known, _)| known.eq_ignore_ascii_case(token)).unwrap_or_else(|| {
                self.0.push((token.to_owned(), Vec::new()));
                self.0.len() - 1
            });
        let rules = &mut self.0[place].1;
        rules.extend(rule.filter(|rule| !rules.iter().any(|known| key(known) == key(rule))));
    }

    /// Adds what a line says, in its own syntax. The worlds here stay below the limit of 8 KiB.
    pub fn add_line(&mut self, line: &str) {
        match structured(line) {
            Some(members) => members.iter().for_each(|member| self.add_member(member)),
            None => line.split(';').for_each(|part| self.add_part(part.trim())),
        }
    }

    /// The later drafts: parameters are rules.
    fn add_member(&mut self, member: &Item) {
        let token = addressee(&member.bare_item).unwrap_or_default();
        self.add(token, None);
        for (name, value) in &member.params {
            let rule = match value {
                BareItem::Token(text) => format!("{name}:{text}"),
                BareItem::String(text) if name.as_str() == VALUED[0] => format!("{name}: {text}"),
                BareItem::String(text) => format!("{name}:{text}"),
                BareItem::Integer(number) => format!("{name}:{number}"),
                BareItem::Boolean(true) => name.to_string(),
                _ => continue,
            };
            self.add(token, Some(rule));
        }
    }

    /// 2.1.1: a pair `token=rule, rule`, in which the token may be omitted; among the rules, tokens of the deployed syntax.
    fn add_part(&mut self, part: &str) {
        let (mut token, rules) = match part.split_once('=') {
            Some((token, rules)) if is_token(token.trim()) && !has_value(token.trim()) => {
                (token.trim(), rules)
            }
            _ => ("*", part),
        };
        if token != "*" {
            self.add(token, None);
        }
        let mut members = rules.split(',').map(str::trim).filter(|member| !member.is_empty());
        while let Some(member) = members.next() {
            let mut rule = member.to_owned();
            if let Some((name, value)) = member.split_once(':') {
                let names_token = value.starts_with([' ', '\t']) || is_known(value) || value.is_empty();
                if is_token(name.trim()) && !has_value(name.trim()) && names_token {
                    token = name.trim();
                    self.add(token, None);
                    rule = value.trim().to_owned();
                }
            }
            // "A comma in the date of `unavailable_after` belongs to the date": it stands behind the name of a day.
            let date = rule.split_once(':').filter(|(name, _)| name.trim().eq_ignore_ascii_case(VALUED[0]));
            if date.is_some_and(|(_, date)| {
                !date.trim().is_empty() && !date.contains(|letter: char| letter.is_ascii_digit())
            }) && let Some(rest) = members.next()
            {
                rule = format!("{rule}, {rest}");
            }
            if !rule.is_empty() {
                self.add(token, Some(rule));
            }
        }
    }

    /// `noindex, nosnippet; ExampleBot=`; empty if nothing is said.
    pub fn text(&self) -> String {
        let pair = |(token, rules): &(String, Vec<String>)| match (token.as_str(), rules.join(", ")) {
            ("*", rules) => rules,
            (token, rules) => format!("{token}={rules}"),
        };
        let pairs: Vec<String> = self.0.iter().map(pair).filter(|pair| !pair.is_empty()).collect();
        pairs.join("; ")
    }

    fn rules(&self) -> usize {
        self.0.iter().map(|(_, rules)| rules.len()).sum()
    }
}

fn addressee(item: &BareItem) -> Option<&str> {
    match item {
        BareItem::Token(token) => Some(token.as_str()).filter(|token| is_token(token) && !is_known(token)),
        BareItem::String(token) => Some(token.as_str()).filter(|token| is_token(token)),
        _ => None,
    }
}

/// "A line is a structured list if all of it parses as one, and it has a parameter or the token `*`", with two exceptions.
fn structured(line: &str) -> Option<Vec<Item>> {
    let list = Parser::new(line).with_version(Version::Rfc8941).parse_list().ok()?;
    let item = |member| match member {
        ListEntry::Item(item) => Some(item),
        ListEntry::InnerList(_) => None,
    };
    let items: Vec<Item> = list.into_iter().map(item).collect::<Option<_>>()?;
    let says = |item: &Item| !item.params.is_empty() || addressee(&item.bare_item) == Some("*");
    let has_word = |item: &Item| {
        item.params.iter().any(|(name, value)| !has_value(name.as_str()) && value.as_token().is_some())
    };
    let is_list = items.iter().all(|item| addressee(&item.bare_item).is_some()) && items.iter().any(says);
    (is_list && !items.iter().any(has_word)).then_some(items)
}

/// The rules of a site for a path: "All rules apply whose scope matches"; of several spellings, "the path with more rules counts".
pub(crate) fn of_site(site: &Site, path: &Path) -> Option<String> {
    let of_spelling = |spelling: usize| {
        let mut tag = Tag::default();
        let matching = site.tags.iter().filter(|(scope, _)| scope.matches_as_written(path, spelling));
        // "Scopes with the same rules count as one": at the place of the first.
        let matching: Vec<&String> = matching.map(|(_, rules)| rules).collect();
        let all = site.tags.iter().map(|(_, rules)| rules).filter(|rules| matching.contains(rules));
        all.for_each(|rules| tag.add_line(rules));
        tag
    };
    let all = path.spellings().map(of_spelling);
    let most = all.fold(None, |most: Option<Tag>, tag| {
        Some(most.filter(|most| most.rules() >= tag.rules()).unwrap_or(tag))
    })?;
    Some(most.text()).filter(|text| !text.is_empty())
}
