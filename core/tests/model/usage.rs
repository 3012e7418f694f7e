//! Usage preferences of a robots.txt once more, as straightforwardly as the drafts can be followed: no compilation, everything in
//! strings and vectors. It shares no code with the crate on purpose.
//!
//! Paths are of letters and slashes, with `*` and `$` in rules, so that there is no other spelling of them.

use std::collections::HashMap;

/// Yes, no, or nothing, of `train-ai`, `ai-use` and `search`.
pub(crate) type Answer = [Option<bool>; 3];

const LABELS: [&str; 3] = ["train-ai", "ai-use", "search"];
const SIGNALS: [&str; 3] = ["ai-train", "ai-input", "search"];

struct Group {
    agents: Vec<String>,
    crawl: Vec<(bool, String)>,
    usage: Vec<(String, String)>,
    signals: Vec<String>,
    has_rule: bool,
}

/// The statement that holds for an agent and a path.
pub(crate) fn usage(text: &str, agent: &str, path: &str) -> Answer {
    let mut above = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    for line in text.replace("\r\n", "\n").replace('\r', "\n").split('\n') {
        let line = line.split('#').next().unwrap();
        let Some((name, value)) = line.split_once(':') else { continue };
        let blank = [' ', '\t'];
        let (name, value) = (name.trim_matches(blank).to_lowercase(), value.trim_matches(blank));
        match (name.as_str(), groups.last_mut()) {
            ("user-agent", last) => {
                if last.is_none_or(|group| group.has_rule) {
                    groups.push(Group {
                        agents: Vec::new(),
                        crawl: Vec::new(),
                        usage: Vec::new(),
                        signals: Vec::new(),
                        has_rule: false,
                    });
                }
                groups.last_mut().unwrap().agents.push(value.to_lowercase());
            }
            ("content-signal", None) => above.push(value.to_owned()),
            ("content-signal", Some(group)) => group.signals.push(value.to_owned()),
            ("allow" | "disallow", Some(group)) => {
                group.has_rule = true;
                if !value.is_empty() {
                    group.crawl.push((name == "allow", value.to_owned()));
                }
            }
            ("content-usage", Some(group)) => {
                group.has_rule = true;
                // "The first character of the rule value will be "/" if a non-empty path is specified."
                let (path, preference) = match value.starts_with('/') {
                    true => value.split_once(blank).unwrap_or((value, "")),
                    false => ("", value),
                };
                group.usage.push((path.to_owned(), preference.trim_matches(blank).to_owned()));
            }
            _ => {}
        }
    }
    let agent = agent.to_lowercase();
    let is_own = |group: &&Group| !agent.starts_with("__usage_") && group.agents.contains(&agent);
    let has_own = groups.iter().any(|group| is_own(&group));
    let own: Vec<&Group> = groups
        .iter()
        .filter(|group| if has_own { is_own(group) } else { group.agents.iter().any(|a| a == "*") })
        .collect();

    // "no preferences are implied for resources that are disallowed"
    let crawl = own.iter().flat_map(|group| &group.crawl).filter(|(_, rule)| matches(rule, path));
    let longest = crawl.clone().map(|(_, rule)| rule.len()).max();
    let mut deciding = crawl.filter(|(_, rule)| Some(rule.len()) == longest);
    if longest.is_some() && path != "/robots.txt" && !deciding.any(|(allow, _)| *allow) {
        return [None; 3];
    }
    let usage = own.iter().flat_map(|group| &group.usage).filter(|(rule, _)| matches(rule, path));
    let longest = usage.clone().map(|(rule, _)| rule.len()).max();
    let stated = usage.filter(|(rule, _)| Some(rule.len()) == longest).map(|(_, text)| preferences(text));
    let signals = above.iter().chain(own.iter().flat_map(|group| &group.signals)).map(|text| signal(text));
    let mut all = [None; 3];
    for one in stated.chain(signals) {
        for (sum, said) in all.iter_mut().zip(one) {
            *sum = match (*sum, said) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), _) | (_, Some(true)) => Some(true),
                _ => None,
            };
        }
    }
    all
}

fn matches(rule: &str, path: &str) -> bool {
    fn from(rule: &[u8], path: &[u8]) -> bool {
        match rule {
            [] => true,
            b"$" => path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|skipped| from(rest, &path[skipped..])),
            [first, rest @ ..] => path.first() == Some(first) && from(rest, &path[1..]),
        }
    }
    from(rule.as_bytes(), path.as_bytes())
}

fn signal(text: &str) -> Answer {
    let said = |name: &str| -> Vec<String> {
        let parts = text.split(',').filter_map(|part| part.split_once('='));
        parts.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned()).collect()
    };
    SIGNALS.map(|name| {
        let said = said(name);
        let has = |value: &str| said.iter().any(|said| said == value);
        if has("no") { Some(false) } else { has("yes").then_some(true) }
    })
}

fn preferences(text: &str) -> Answer {
    let Some(dictionary) = Parser(text.bytes().collect(), 0).dictionary() else { return [None; 3] };
    LABELS.map(|label| match dictionary.get(label).map(String::as_str) {
        Some("y") => Some(true),
        Some("n") => Some(false),
        _ => None,
    })
}

/// RFC 9651, 4.2, step by step. Of a value only the text of a Token is kept, and of anything else nothing.
struct Parser(Vec<u8>, usize);

impl Parser {
    fn next(&self) -> Option<u8> {
        self.0.get(self.1).copied()
    }

    fn consume(&mut self) -> Option<u8> {
        self.1 += 1;
        self.0.get(self.1 - 1).copied()
    }

    fn discard(&mut self, blanks: &[u8]) {
        while self.next().is_some_and(|byte| blanks.contains(&byte)) {
            self.1 += 1;
        }
    }

    fn dictionary(mut self) -> Option<HashMap<String, String>> {
        let mut dictionary = HashMap::new();
        self.discard(b" ");
        while self.next().is_some() {
            let key = self.key()?;
            let value = if self.next() == Some(b'=') {
                self.consume();
                self.item_or_list()?
            } else {
                self.parameters()?;
                String::new()
            };
            dictionary.insert(key, value);
            self.discard(b" \t");
            if self.next().is_none() {
                break;
            }
            if self.consume()? != b',' {
                return None;
            }
            self.discard(b" \t");
            self.next()?;
        }
        Some(dictionary)
    }

    fn item_or_list(&mut self) -> Option<String> {
        if self.next() != Some(b'(') {
            let value = self.bare()?;
            self.parameters()?;
            return Some(value);
        }
        self.consume();
        loop {
            self.discard(b" ");
            if self.next()? == b')' {
                self.consume();
                self.parameters()?;
                return Some(String::new());
            }
            self.bare()?;
            self.parameters()?;
            if !matches!(self.next()?, b' ' | b')') {
                return None;
            }
        }
    }

    fn parameters(&mut self) -> Option<()> {
        while self.next() == Some(b';') {
            self.consume();
            self.discard(b" ");
            self.key()?;
            if self.next() == Some(b'=') {
                self.consume();
                self.bare()?;
            }
        }
        Some(())
    }

    fn key(&mut self) -> Option<String> {
        let mut key = String::new();
        if !matches!(self.next()?, b'a'..=b'z' | b'*') {
            return None;
        }
        while let Some(byte @ (b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*')) = self.next() {
            key.push(byte.into());
            self.consume();
        }
        Some(key)
    }

    /// The text of a Token; nothing of another value.
    fn bare(&mut self) -> Option<String> {
        match self.next()? {
            b'-' | b'0'..=b'9' => self.number().map(|_| String::new()),
            b'"' => {
                self.consume();
                loop {
                    match self.consume()? {
                        b'"' => return Some(String::new()),
                        b'\\' if matches!(self.next()?, b'"' | b'\\') => _ = self.consume(),
                        b' '..=b'[' | b']'..=b'~' => {}
                        _ => return None,
                    }
                }
            }
            b'?' => {
                self.consume();
                matches!(self.consume()?, b'0' | b'1').then(String::new)
            }
            b'@' => {
                self.consume();
                self.number().filter(|is_integer| *is_integer).map(|_| String::new())
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'*' => {
                let mut token = String::new();
                let is_in_token =
                    |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte);
                while let Some(byte) = self.next().filter(|byte| is_in_token(*byte)) {
                    token.push(byte.into());
                    self.consume();
                }
                Some(token)
            }
            _ => None,
        }
    }

    /// True if it is an integer.
    fn number(&mut self) -> Option<bool> {
        if self.next() == Some(b'-') {
            self.consume();
        }
        let digits = |parser: &mut Self| {
            let start = parser.1;
            while parser.next().is_some_and(|byte| byte.is_ascii_digit()) {
                parser.consume();
            }
            parser.1 - start
        };
        let whole = digits(self);
        if whole == 0 || whole > 15 {
            return None;
        }
        if self.next() != Some(b'.') {
            return Some(true);
        }
        self.consume();
        let fraction = digits(self);
        (whole <= 12 && (1..=3).contains(&fraction)).then_some(false)
    }
}
