//! RFC 9309 once more, as straightforwardly as it can be said: no compilation, no streaming, everything in vectors.
//!
//! The property tests and the fuzz target `robots_model` compare the real matcher with this one. It shares no code with
//! the crate on purpose.

/// Whether `agent` may fetch `path`, and the line that says so.
pub(crate) fn decide(text: &[u8], agent: &str, path: &[u8]) -> (bool, Option<u32>) {
    let groups = groups(text);
    let has = |group: &Group, token: &str| group.tokens.iter().any(|own| own.eq_ignore_ascii_case(token));
    let token = if groups.iter().any(|group| has(group, agent)) { agent } else { "*" };
    let path = octets(if path.is_empty() { b"/" } else { path });
    let mut best: Option<(usize, bool, u32)> = None;
    for rule in groups.iter().filter(|group| has(group, token)).flat_map(|group| &group.rules) {
        if !matches(&rule.pattern, &path) {
            continue;
        }
        let length = rule.pattern.len();
        let better = match best {
            None => true,
            Some((best, allow, line)) if length == best && rule.allow == allow => rule.line < line,
            Some((best, allow, _)) => length > best || length == best && rule.allow && !allow,
        };
        if better {
            best = Some((length, rule.allow, rule.line));
        }
    }
    match best {
        Some((_, allow, line)) if allow || path != octets(b"/robots.txt") => (allow, Some(line)),
        _ => (true, None),
    }
}

struct Group {
    tokens: Vec<String>,
    rules: Vec<Rule>,
    closed: bool,
}

struct Rule {
    pattern: Vec<Item>,
    allow: bool,
    line: u32,
}

enum Item {
    Star,
    End,
    Octet(u8),
}

fn groups(text: &[u8]) -> Vec<Group> {
    // Latin-1 keeps each octet as one character, so that the methods of strings can be used.
    let text: String = text.iter().map(|byte| char::from(*byte)).collect();
    let text =
        text.strip_prefix("\u{EF}\u{BB}\u{BF}").unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n");
    let mut groups: Vec<Group> = Vec::new();
    for (line, number) in text.split('\n').zip(1..) {
        let line = line.split('#').next().unwrap_or_default();
        let Some((name, value)) = name_and_value(line) else { continue };
        if name == "user-agent" {
            if groups.last().is_none_or(|group| group.closed) {
                groups.push(Group { tokens: Vec::new(), rules: Vec::new(), closed: false });
            }
            let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '-' || *c == '_';
            let token: String = value.chars().take_while(is_part).collect();
            let star = value == "*" || value.starts_with("* ") || value.starts_with("*\t");
            groups.last_mut().unwrap().tokens.extend(star.then(|| "*".to_string()));
            groups.last_mut().unwrap().tokens.extend((!token.is_empty()).then_some(token));
        } else if let Some(group) = groups.last_mut() {
            group.closed = true;
            if value.starts_with('/') || value.starts_with('*') {
                group.rules.push(Rule { pattern: pattern(&value), allow: name == "allow", line: number });
            }
        }
    }
    groups
}

fn name_and_value(line: &str) -> Option<(String, String)> {
    let blank = |c| c == ' ' || c == '\t';
    let known = |name: &str| {
        let name = name.trim_matches(blank).to_ascii_lowercase();
        ["user-agent", "allow", "disallow"].contains(&&*name).then_some(name)
    };
    if let Some((name, value)) = line.split_once(':')
        && let Some(name) = known(name)
    {
        return Some((name, value.trim_matches(blank).to_string()));
    }
    let words: Vec<&str> = line.split(blank).filter(|word| !word.is_empty()).collect();
    match words[..] {
        [name, value] => known(name).map(|name| (name, value.to_string())),
        _ => None,
    }
}

fn pattern(value: &str) -> Vec<Item> {
    let (body, end) = value.strip_suffix('$').map_or((value, false), |body| (body, true));
    let mut items = Vec::new();
    for (index, literal) in body.split('*').enumerate() {
        if index > 0 {
            items.push(Item::Star);
        }
        let bytes: Vec<u8> = literal.chars().map(|c| c as u8).collect();
        items.extend(octets(&bytes).into_iter().map(Item::Octet));
    }
    items.extend(end.then_some(Item::End));
    items
}

/// The normal form, as text.
fn octets(raw: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut index = 0;
    while index < raw.len() {
        let hex = raw.get(index + 1..index + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        let hex = hex.filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let (value, stays, step) = match (raw[index], hex) {
            (b'%', Some(hex)) => {
                let value = u8::from_str_radix(hex, 16).unwrap();
                (value, value.is_ascii_alphanumeric() || b"-._~*$".contains(&value), 3)
            }
            (value, _) => (value, value.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&value), 1),
        };
        if stays {
            octets.push(value);
        } else {
            octets.extend(format!("%{value:02X}").bytes());
        }
        index += step;
    }
    octets
}

/// Which ends of the path the pattern can reach, item by item.
fn matches(pattern: &[Item], path: &[u8]) -> bool {
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for item in pattern {
        let mut next = vec![false; path.len() + 1];
        for at in 0..=path.len() {
            match item {
                Item::Star => next[at] = reached[..=at].contains(&true),
                Item::End => next[at] = reached[at] && at == path.len(),
                Item::Octet(octet) => next[at] = at > 0 && reached[at - 1] && path[at - 1] == *octet,
            }
        }
        reached = next;
    }
    reached.contains(&true)
}
