//! Paths and the patterns that match them: RFC 9309, 2.2.2 and 2.2.3; "Path patterns" and "Other spellings of a path" in
//! docs/robots-and-preferences.md.

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// An octet of the normal form.
    Octet(u8),
    /// An encoded delimiter, which in a query equals the plain one.
    Delimiter(u8),
    /// `*`.
    AnyText,
    /// `$` at the end of a pattern.
    End,
}

/// The general delimiters that delimit nothing in a query: RFC 3986, 3.4, and the table of RFC 9309, 2.2.2.
const DATA_IN_QUERY: &[u8] = b":/?@[]";

/// RFC 3986, 2.2.
const RESERVED: &[u8] = b":/?#[]@!$&'()*+,;=";

fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"-._~".contains(&octet)
}

/// The octet that a percent encoding at the start of the text stands for.
fn decoded(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let digit = |octet: u8| char::from(octet).to_digit(16);
    u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
}

fn encoded(octet: u8) -> Vec<u8> {
    format!("%{octet:02X}").into_bytes()
}

/// RFC 9309, 2.2.2: unreserved octets are compared decoded, reserved ones as they are, all others encoded. 2.2.3: `*` and `$` as
/// characters equal `%2A` and `%24`. In a query, some delimiters equal their encoding.
fn normal_form(text: &[u8]) -> Vec<u8> {
    let mut normal = Vec::new();
    let mut is_query = false;
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let code = decoded(rest);
        let octet = code.unwrap_or(*first);
        rest = if code.is_some() { &behind[2..] } else { behind };
        let is_plain = match code {
            Some(octet) => {
                is_unreserved(octet) || b"*$".contains(&octet) || is_query && DATA_IN_QUERY.contains(&octet)
            }
            None => octet == b'%' || is_unreserved(octet) || RESERVED.contains(&octet),
        };
        match is_plain {
            true => normal.push(octet),
            false => normal.extend(encoded(octet)),
        }
        is_query |= code.is_none() && octet == b'?';
    }
    normal
}

/// The part of a pattern that is matched, without `$`, and `$`.
fn without_end(pattern: &[u8]) -> (&[u8], bool) {
    match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    }
}

fn pattern_units(pattern: &[u8]) -> Vec<Unit> {
    let (pattern, has_end) = without_end(pattern);
    let mut units = Vec::new();
    let mut is_query = false;
    for (place, text) in pattern.split(|octet| *octet == b'*').enumerate() {
        units.extend((place > 0).then_some(Unit::AnyText));
        let normal =
            if is_query { normal_form(&[b"?", text].concat()).split_off(1) } else { normal_form(text) };
        let mut rest = normal.as_slice();
        while let Some((octet, behind)) = rest.split_first() {
            is_query |= *octet == b'?';
            // A `*` may match up to the query, so that what follows it is compared as the path has it.
            match decoded(rest).filter(|octet| DATA_IN_QUERY.contains(octet)) {
                Some(octet) => units.push(Unit::Delimiter(octet)),
                None => units.push(Unit::Octet(*octet)),
            }
            rest = if let Some(Unit::Delimiter(_)) = units.last() { &behind[2..] } else { behind };
        }
    }
    units.extend(has_end.then_some(Unit::End));
    units
}

/// RFC 9309, 2.2.2: the octets of the normal form, in which `*` and `$` are one each.
fn length(pattern: &[Unit]) -> usize {
    pattern.iter().map(|unit| if let Unit::Delimiter(_) = unit { 3 } else { 1 }).sum()
}

/// Returns true if a pattern matches the start of a path in normal form. `places` are those up to which the units so far match.
fn matches(pattern: &[Unit], path: &[u8]) -> bool {
    let query = path.iter().position(|octet| *octet == b'?').unwrap_or(path.len());
    let mut places = vec![0];
    for unit in pattern {
        let behind = |place: usize| {
            let text = match unit {
                Unit::Delimiter(octet) if place <= query => encoded(*octet),
                Unit::Octet(octet) | Unit::Delimiter(octet) => vec![*octet],
                Unit::AnyText | Unit::End => Vec::new(),
            };
            path[place..].starts_with(&text).then_some(place + text.len())
        };
        places = match unit {
            Unit::AnyText => places.first().map_or(Vec::new(), |first| (*first..=path.len()).collect()),
            Unit::End => places.into_iter().filter(|place| *place == path.len()).collect(),
            _ => places.into_iter().filter_map(behind).collect(),
        };
    }
    !places.is_empty()
}

/// The ways in which servers resolve a path: "Other spellings of a path".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Slashes are merged, then dot segments removed, as nginx does.
    SlashesFirst,
    /// Dot segments are removed, then slashes merged, as Envoy does.
    DotsFirst,
    /// Reserved characters before the query are decoded, then as [`Self::SlashesFirst`].
    Decoded,
    /// Each segment ends before `;`, then as [`Self::Decoded`].
    WithoutParameters,
}

/// All of them, in the order in which a path is judged.
pub const FORMS: [Form; 4] = [Form::SlashesFirst, Form::DotsFirst, Form::Decoded, Form::WithoutParameters];

/// A path or pattern as a server may resolve it.
pub fn resolve(text: &[u8], form: Form) -> Vec<u8> {
    resolve_as(Kind::Path, text, form)
}

/// The text that is resolved. The last segment of an open pattern may go on, so it does not count as a dot segment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Path,
    Pattern,
    OpenPattern,
}

fn resolve_as(kind: Kind, text: &[u8], form: Form) -> Vec<u8> {
    let without_fragment = text.split(|octet| *octet == b'#').next().unwrap_or_default();
    let query = without_fragment.iter().position(|octet| *octet == b'?').unwrap_or(without_fragment.len());
    let (path, query) = without_fragment.split_at(query);
    let path = match form {
        Form::SlashesFirst | Form::DotsFirst => path.to_vec(),
        Form::Decoded => decode_reserved(kind, path),
        Form::WithoutParameters => decode_reserved(kind, &without_parameters(path)),
    };
    // "Reads it so in the second and in the third form."
    let is_slash = |octet: &u8| *octet == b'/' || *octet == b'\\' && form != Form::SlashesFirst;
    let mut segments: Vec<&[u8]> = path.split(is_slash).collect();
    // A segment begins with a slash.
    let before = segments.remove(0);
    let merge = |segments: Vec<_>| {
        let last = segments.len().saturating_sub(1);
        let kept = segments.into_iter().enumerate();
        kept.filter(|(place, segment): &(_, &[u8])| *place == last || !segment.is_empty())
            .map(|(_, segment)| segment)
            .collect()
    };
    let segments: Vec<&[u8]> = match form {
        Form::DotsFirst => merge(remove_dots(kind, segments)),
        _ => remove_dots(kind, merge(segments)),
    };
    let mut resolved = before.to_vec();
    for segment in segments {
        resolved.push(b'/');
        resolved.extend(segment);
    }
    [&resolved, query].concat()
}

/// "Each segment ends before" `;` or `%3B`.
fn without_parameters(path: &[u8]) -> Vec<u8> {
    let until = |segment: &[u8]| {
        let is_parameter =
            |place: &usize| segment[*place] == b';' || decoded(&segment[*place..]) == Some(b';');
        segment[..(0..segment.len()).find(is_parameter).unwrap_or(segment.len())].to_vec()
    };
    path.split(|octet| *octet == b'/').map(until).collect::<Vec<_>>().join(&b'/')
}

/// RFC 3986, 5.2.4, where `%2e` is a dot.
fn remove_dots(kind: Kind, segments: Vec<&[u8]>) -> Vec<&[u8]> {
    let last = segments.len() - 1;
    let mut kept = Vec::new();
    for (place, segment) in segments.into_iter().enumerate() {
        let dots = String::from_utf8_lossy(segment).to_ascii_lowercase().replace("%2e", ".");
        let is_dot_segment =
            [".", ".."].contains(&dots.as_str()) && !(kind == Kind::OpenPattern && place == last);
        if is_dot_segment && dots == ".." {
            kept.pop();
        }
        // Behind a dot segment at the end, an empty one is left.
        match is_dot_segment {
            true if place == last => kept.push(&b""[..]),
            true => {}
            false => kept.push(segment),
        }
    }
    kept
}

/// "Only `%3F` and `%23` are not decoded", and `%5C` is read as `/`.
fn decode_reserved(kind: Kind, path: &[u8]) -> Vec<u8> {
    // In a pattern, `%2A` and `%24` would become special.
    let kept: &[u8] = if kind == Kind::Path { b"?#" } else { b"?#*$" };
    let mut text = Vec::new();
    let mut rest = path;
    while let Some((octet, behind)) = rest.split_first() {
        match decoded(rest) {
            Some(octet) if !kept.contains(&octet) && (octet == b'\\' || RESERVED.contains(&octet)) => {
                text.push(octet);
                rest = &behind[2..];
            }
            _ => {
                text.push(*octet);
                rest = behind;
            }
        }
    }
    text
}

/// A path with the spellings in which it is judged.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The normal forms: as sent first, then the others.
    spellings: Vec<(Option<Form>, Vec<u8>)>,
    /// As it was sent.
    pub sent: Vec<u8>,
}

impl Path {
    /// The path and query as sent; an empty one is `/`.
    pub(crate) fn new(sent: &[u8]) -> Self {
        let sent = if sent.is_empty() { b"/" } else { sent };
        let escaped: Vec<u8> = sent
            .iter()
            .flat_map(|octet| if *octet == b'#' { &b"%23"[..] } else { std::slice::from_ref(octet) })
            .copied()
            .collect();
        let mut texts: Vec<(Option<Form>, Vec<u8>)> = vec![(None, sent.to_vec())];
        let all_of = |text: &[u8]| FORMS.map(|form| (Some(form), resolve(text, form)));
        texts.extend(all_of(sent));
        if escaped != sent {
            texts.push((None, escaped.clone()));
            texts.extend(all_of(&escaped));
        }
        // "A path in resolved form is judged once."
        if texts.iter().all(|(_, text)| text == sent) {
            texts.truncate(1);
        }
        let spellings = texts.into_iter().map(|(form, text)| (form, normal_form(&text))).collect();
        Self { spellings, sent: sent.to_vec() }
    }

    /// The number of spellings that are judged.
    pub(crate) fn spellings(&self) -> std::ops::Range<usize> {
        0..self.spellings.len()
    }

    /// Returns true if the path as sent, without its query, is this one.
    pub(crate) fn is(&self, path: &str) -> bool {
        let query = self.sent.iter().position(|octet| *octet == b'?').unwrap_or(self.sent.len());
        normal_form(&self.sent[..query]) == path.as_bytes()
    }
}

/// A pattern of a rule or scope.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    written: Vec<Unit>,
    /// As resolved in each form.
    resolved: [Vec<Unit>; 4],
}

impl Pattern {
    /// "A pattern that starts with neither `/` nor `*` matches no path": `None`.
    pub(crate) fn new(text: &[u8]) -> Option<Self> {
        if !text.starts_with(b"/") && !text.starts_with(b"*") {
            return None;
        }
        let (path, has_end) = without_end(text);
        let end: &[u8] = if has_end { b"$" } else { b"" };
        let is_open = !has_end && !text.contains(&b'?');
        let kind = if is_open { Kind::OpenPattern } else { Kind::Pattern };
        let resolved = FORMS.map(|form| pattern_units(&[&resolve_as(kind, path, form), end].concat()));
        Some(Self { written: pattern_units(text), resolved })
    }

    /// The length of the pattern, if it matches a spelling of the path: "Rules with such a spelling".
    pub(crate) fn matches(&self, path: &Path, spelling: usize) -> Option<usize> {
        let (form, text) = &path.spellings[spelling];
        let is_written_so = matches(&self.written, text);
        let Some(form) = form else {
            return is_written_so.then(|| length(&self.written));
        };
        let resolved = &self.resolved[FORMS.iter().position(|known| known == form)?];
        // "The path as sent or in the first of these forms": the spellings are in groups of that and the four forms.
        let group = spelling - spelling % (1 + FORMS.len());
        let before =
            || (group..spelling.min(group + 2)).any(|less| matches(&self.written, &path.spellings[less].1));
        let does_match = is_written_so || matches(resolved, text) && before();
        does_match.then(|| length(resolved))
    }

    /// Returns true if it matches a spelling of the path as it is written.
    pub(crate) fn matches_as_written(&self, path: &Path, spelling: usize) -> bool {
        matches(&self.written, &path.spellings[spelling].1)
    }
}
