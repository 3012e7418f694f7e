//! Paths and the patterns that match them: RFC 9309, 2.2.2 and 2.2.3; "Path patterns" and "Other spellings of a path" in
//! docs/robots-and-preferences.md.

/// An octet as it is compared, or what is special in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// An octet that stands for itself.
    Plain(u8),
    /// An octet that is percent-encoded, or would be: two forms that are equal.
    Encoded(u8),
    /// `*` of a pattern.
    AnyText,
    /// `$` at the end of a pattern.
    End,
}

/// An octet of a path, and if it is in the query.
type Octet = (Unit, bool);

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

/// RFC 9309, 2.2.2: unreserved octets are compared decoded, reserved ones as they are, all others encoded. 2.2.3: `*` and `$` as
/// characters are `%2A` and `%24`.
fn normal_form(text: &[u8]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut rest = text;
    while let Some((octet, behind)) = rest.split_first() {
        rest = behind;
        units.push(match decoded(&[&[*octet], behind].concat()) {
            Some(octet) => {
                rest = &behind[2..];
                if is_unreserved(octet) { Unit::Plain(octet) } else { Unit::Encoded(octet) }
            }
            None if *octet == b'*' || *octet == b'$' => Unit::Encoded(*octet),
            None if *octet == b'%' || is_unreserved(*octet) || RESERVED.contains(octet) => {
                Unit::Plain(*octet)
            }
            None => Unit::Encoded(*octet),
        });
    }
    units
}

fn octets(path: &[u8]) -> Vec<Octet> {
    let units = normal_form(path);
    let query = units.iter().position(|unit| *unit == Unit::Plain(b'?')).unwrap_or(units.len());
    units.into_iter().enumerate().map(|(place, unit)| (unit, place > query)).collect()
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
    let parts = pattern.split(|octet| *octet == b'*').map(normal_form).collect::<Vec<_>>();
    let mut units = parts.join(&Unit::AnyText);
    let query = units.iter().position(|unit| *unit == Unit::Plain(b'?')).unwrap_or(units.len());
    for unit in units.iter_mut().skip(query + 1) {
        match *unit {
            Unit::Plain(octet) if DATA_IN_QUERY.contains(&octet) => *unit = Unit::Encoded(octet),
            _ => {}
        }
    }
    units.extend(has_end.then_some(Unit::End));
    units
}

fn is_equal(unit: Unit, (octet, is_in_query): Octet) -> bool {
    let is_data = |octet: &u8| is_in_query && DATA_IN_QUERY.contains(octet);
    match (unit, octet) {
        (Unit::Encoded(a), Unit::Plain(b)) | (Unit::Plain(a), Unit::Encoded(b)) => a == b && is_data(&a),
        (a, b) => a == b,
    }
}

fn matches(pattern: &[Unit], path: &[Octet]) -> bool {
    match pattern.split_first() {
        None => true,
        Some((Unit::End, _)) => path.is_empty(),
        Some((Unit::AnyText, rest)) => (0..=path.len()).any(|skipped| matches(rest, &path[skipped..])),
        Some((unit, rest)) => {
            path.first().is_some_and(|octet| is_equal(*unit, *octet)) && matches(rest, &path[1..])
        }
    }
}

/// RFC 9309, 2.2.2: the octets of the normal form, in which `*` and `$` are one each.
fn length(pattern: &[Unit]) -> usize {
    pattern.iter().map(|unit| if let Unit::Encoded(_) = unit { 3 } else { 1 }).sum()
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
    /// As [`Self::Decoded`], and each segment ends before `;`.
    WithoutParameters,
}

/// All of them, in the order in which a path is judged.
pub const FORMS: [Form; 4] = [Form::SlashesFirst, Form::DotsFirst, Form::Decoded, Form::WithoutParameters];

/// A path or pattern as a server may resolve it.
pub fn resolve(text: &[u8], form: Form) -> Vec<u8> {
    let without_fragment = text.split(|octet| *octet == b'#').next().unwrap_or_default();
    let query = without_fragment.iter().position(|octet| *octet == b'?').unwrap_or(without_fragment.len());
    let (path, query) = without_fragment.split_at(query);
    let path = match form {
        Form::SlashesFirst | Form::DotsFirst => path.to_vec(),
        Form::Decoded | Form::WithoutParameters => decode_reserved(path),
    };
    let mut segments: Vec<&[u8]> = path.split(|octet| *octet == b'/' || *octet == b'\\').collect();
    if form == Form::WithoutParameters {
        for segment in &mut segments {
            *segment = segment.split(|octet| *octet == b';').next().unwrap_or_default();
        }
    }
    // What stands before the first slash is no segment.
    let before = segments.remove(0);
    let merge = |segments: Vec<_>| {
        let last = segments.len().saturating_sub(1);
        let kept = segments.into_iter().enumerate();
        kept.filter(|(place, segment): &(_, &[u8])| *place == last || !segment.is_empty())
            .map(|(_, segment)| segment)
            .collect()
    };
    let segments: Vec<&[u8]> = match form {
        Form::DotsFirst => merge(remove_dots(segments)),
        _ => remove_dots(merge(segments)),
    };
    let mut resolved = before.to_vec();
    for segment in segments {
        resolved.push(b'/');
        resolved.extend(segment);
    }
    [&resolved, query].concat()
}

/// RFC 3986, 5.2.4, where `%2e` is a dot.
fn remove_dots(segments: Vec<&[u8]>) -> Vec<&[u8]> {
    let last = segments.len().saturating_sub(1);
    let mut kept = Vec::new();
    for (place, segment) in segments.into_iter().enumerate() {
        let dots = String::from_utf8_lossy(segment).to_ascii_lowercase().replace("%2e", ".");
        match dots.as_str() {
            "." => {}
            ".." => _ = kept.pop(),
            _ => {
                kept.push(segment);
                continue;
            }
        }
        if place == last {
            kept.push(&b""[..]);
        }
    }
    kept
}

/// "Only `%3F` and `%23` are not decoded", and `%5C` is read as `/`.
fn decode_reserved(path: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest = path;
    while let Some((octet, behind)) = rest.split_first() {
        match decoded(rest) {
            Some(octet)
                if octet != b'?' && octet != b'#' && (octet == b'\\' || RESERVED.contains(&octet)) =>
            {
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
pub struct Path {
    /// As sent first, then the others; the form of each.
    spellings: Vec<(Option<Form>, Vec<Octet>)>,
    /// As it was sent.
    pub sent: Vec<u8>,
}

impl Path {
    /// The path and query as sent; an empty one is `/`.
    pub fn new(sent: &[u8]) -> Self {
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
        let spellings = texts.into_iter().map(|(form, text)| (form, octets(&text))).collect();
        Self { spellings, sent: sent.to_vec() }
    }

    /// The number of spellings that are judged.
    pub fn spellings(&self) -> std::ops::Range<usize> {
        0..self.spellings.len()
    }

    /// Returns true if the path as sent, without its query, is this one.
    pub fn is(&self, path: &str) -> bool {
        let query = self.sent.iter().position(|octet| *octet == b'?').unwrap_or(self.sent.len());
        octets(&self.sent[..query]) == octets(path.as_bytes())
    }
}

/// A pattern of a rule or scope.
#[derive(Clone, Debug)]
pub struct Pattern {
    written: Vec<Unit>,
    /// As resolved in each form.
    resolved: [Vec<Unit>; 4],
}

impl Pattern {
    /// "A pattern that starts with neither `/` nor `*` matches no path": `None`.
    pub fn new(text: &[u8]) -> Option<Self> {
        if !text.starts_with(b"/") && !text.starts_with(b"*") {
            return None;
        }
        let (path, has_end) = without_end(text);
        let end: &[u8] = if has_end { b"$" } else { b"" };
        let resolved = FORMS.map(|form| pattern_units(&[&resolve(path, form), end].concat()));
        Some(Self { written: pattern_units(text), resolved })
    }

    /// The length of the pattern, if it matches a spelling of the path: "Rules with such a spelling".
    pub fn matches(&self, path: &Path, spelling: usize) -> Option<usize> {
        let (form, text) = &path.spellings[spelling];
        let is_written_so = matches(&self.written, text);
        let Some(form) = form else {
            return is_written_so.then(|| length(&self.written));
        };
        let resolved = &self.resolved[FORMS.iter().position(|known| known == form)?];
        let before = || path.spellings[..spelling].iter().any(|(_, text)| matches(&self.written, text));
        let does_match = is_written_so || matches(resolved, text) && before();
        does_match.then(|| length(resolved))
    }
}
