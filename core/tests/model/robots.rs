//! RFC 9309 once more, as straightforwardly as it can be said: no compilation, no streaming, everything in vectors.
//!
//! The property tests and the fuzz target `robots_model` compare the real matcher with this one. It shares no code with
//! the crate on purpose.

/// Returns true if `agent` may fetch `path`, and the line that says so.
pub(crate) fn decide(text: &[u8], agent: &str, path: &[u8]) -> (bool, Option<u32>) {
    let groups = groups(text);
    let has = |group: &Group, token: &str| group.tokens.iter().any(|own| own.eq_ignore_ascii_case(token));
    // USE-11
    let is_reserved = agent.to_ascii_lowercase().starts_with("__usage_");
    let token = if !is_reserved && groups.iter().any(|group| has(group, agent)) { agent } else { "*" };
    let path = octets(if path.is_empty() { b"/" } else { path });
    let mut best: Option<(usize, bool, u32)> = None;
    for rule in groups.iter().filter(|group| has(group, token)).flat_map(|group| &group.rules) {
        if !matches(&rule.pattern, &path) {
            continue;
        }
        let length = rule.length;
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
    length: usize,
    allow: bool,
    line: u32,
}

enum Item {
    Star,
    End,
    /// A character: its octets in normal form before the query, and in it.
    Character([Vec<u8>; 2]),
}

fn groups(text: &[u8]) -> Vec<Group> {
    // Latin-1 keeps each octet as one character, so that the methods of strings can be used.
    let text: String = text.iter().map(|byte| char::from(*byte)).collect();
    // A byte order mark, or part of one that is not a character.
    let is_mark = |mark: &&str| {
        let after =
            text.strip_prefix(*mark).map(|rest| rest.starts_with(|c| ('\u{80}'..='\u{BF}').contains(&c)));
        after.is_some_and(|is_continued| mark.len() == 6 || !is_continued)
    };
    let mark = ["\u{EF}\u{BB}\u{BF}", "\u{EF}\u{BB}", "\u{EF}"].into_iter().find(is_mark).unwrap_or_default();
    let text = text.strip_prefix(mark).unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n");
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
            if name != "content-usage" && (value.starts_with('/') || value.starts_with('*')) {
                let (pattern, length) = pattern(&value);
                group.rules.push(Rule { pattern, length, allow: name == "allow", line: number });
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
    // draft-ietf-aipref-attach adds a rule, which is not guessed.
    if let Some((name, value)) = line.split_once(':')
        && name.trim_matches(blank).eq_ignore_ascii_case("content-usage")
    {
        return Some(("content-usage".to_string(), value.to_string()));
    }
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

/// The items of a pattern, and how many octets it has.
fn pattern(value: &str) -> (Vec<Item>, usize) {
    let (body, end) = value.strip_suffix('$').map_or((value, false), |body| (body, true));
    let mut items = Vec::new();
    let mut length = usize::from(end);
    let mut in_query = 0;
    for (index, literal) in body.split('*').enumerate() {
        if index > 0 {
            items.push(Item::Star);
            length += 1;
        }
        let bytes: Vec<u8> = literal.chars().map(|c| c as u8).collect();
        for raw in characters(&bytes) {
            let octets = [normal(raw, false), normal(raw, true)];
            length += octets[in_query].len();
            items.push(Item::Character(octets));
            if raw == b"?" {
                in_query = 1;
            }
        }
    }
    items.extend(end.then_some(Item::End));
    (items, length)
}

/// A text cut into characters and percent-encoded ones.
fn characters(text: &[u8]) -> Vec<&[u8]> {
    let mut characters = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let is_encoded = rest[0] == b'%' && rest.len() > 2 && rest[1..3].iter().all(u8::is_ascii_hexdigit);
        let (character, after) = rest.split_at(if is_encoded { 3 } else { 1 });
        characters.push(character);
        rest = after;
    }
    characters
}

/// The octets of a character in normal form.
fn normal(character: &[u8], in_query: bool) -> Vec<u8> {
    let (value, stays) = match character {
        [b'%', hex @ ..] if !hex.is_empty() => {
            let value = u8::from_str_radix(std::str::from_utf8(hex).unwrap(), 16).unwrap();
            let is_data = in_query && b":/?@[]".contains(&value);
            (value, is_data || value.is_ascii_alphanumeric() || b"-._~*$".contains(&value))
        }
        other => (other[0], other[0].is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&other[0])),
    };
    if stays { vec![value] } else { format!("%{value:02X}").into_bytes() }
}

/// The normal form of a path with its query, each octet with whether it is in the query.
fn octets(path: &[u8]) -> Vec<(u8, bool)> {
    let (mut octets, mut in_query) = (Vec::new(), false);
    for character in characters(path) {
        octets.extend(normal(character, in_query).into_iter().map(|octet| (octet, in_query)));
        in_query |= character == b"?";
    }
    octets
}

/// Which ends of the path the pattern can reach, item by item.
fn matches(pattern: &[Item], path: &[(u8, bool)]) -> bool {
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for item in pattern {
        let mut next = vec![false; path.len() + 1];
        for at in 0..=path.len() {
            match item {
                Item::Star => next[at] = reached[..=at].contains(&true),
                Item::End => next[at] = reached[at] && at == path.len(),
                Item::Character([before_query, in_query]) => {
                    let ends_here = |octets: &[u8], is_in_query: bool| {
                        let start = at.checked_sub(octets.len()).filter(|start| reached[*start]);
                        start.is_some_and(|start| {
                            let found = path[start..at].iter();
                            found.zip(octets).all(|((octet, in_query), expected)| {
                                octet == expected && (*in_query || !is_in_query)
                            })
                        })
                    };
                    next[at] = ends_here(before_query, false) || ends_here(in_query, true);
                }
            }
        }
        reached = next;
    }
    reached.contains(&true)
}
