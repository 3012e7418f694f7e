//! Envoy's access log formats.

use serde_json::Value;

use super::builder::Escape;
use super::json::Keys;
use super::names::{self, Meaning};
use super::template::{Piece, Template};

/// The format that Envoy uses if none is configured.
pub(crate) const DEFAULT: &str = r#"[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%""#;

/// The way in which Envoy's lines are read.
#[derive(Debug)]
pub(crate) enum EnvoyFormat {
    /// `text_format`
    Text(Template),
    /// `json_format`
    Json(Keys),
}

/// Compiles a format string, or the object of a `json_format`.
pub(crate) fn format(text: &str, purpose_header: &str) -> Result<EnvoyFormat, String> {
    if text.trim_start().starts_with('{') {
        let object = serde_json::from_str(text);
        let object: serde_json::Map<String, Value> =
            object.map_err(|error| format!("the json_format is invalid: {error}"))?;
        return keys(&object, purpose_header).map(EnvoyFormat::Json);
    }
    template(text, purpose_header, false).map(EnvoyFormat::Text)
}

/// Compiles a format string.
pub(crate) fn template(text: &str, purpose_header: &str, may_go_on: bool) -> Result<Template, String> {
    let pieces = pieces(text.trim_end_matches(['\r', '\n']), purpose_header)?;
    // Envoy escapes nothing in texts.
    Template::new(pieces, Escape::None, may_go_on).map_err(|ambiguous| {
        let at = ambiguous.0;
        format!("nothing separates command {at} from the next one; put a space or quotes between them")
    })
}

fn keys(object: &serde_json::Map<String, Value>, purpose_header: &str) -> Result<Keys, String> {
    let mut keys = Vec::new();
    for (key, value) in object {
        let Value::String(text) = value else { continue };
        if let [Piece::Field(Some(meaning))] = &pieces(text, purpose_header)?[..] {
            keys.push((key.clone(), *meaning));
        }
    }
    Ok(Keys::Given(keys))
}

fn pieces(text: &str, purpose_header: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(percent) = rest.find('%') {
        if percent > 0 {
            pieces.push(Piece::Text(rest[..percent].into()));
        }
        rest = &rest[percent + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            pieces.push(Piece::Text(b"%".to_vec()));
            rest = after;
            continue;
        }
        let (meaning, after) = command(rest, purpose_header)?;
        pieces.push(Piece::Field(meaning));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.into()));
    }
    Ok(pieces)
}

/// The meaning of `NAME(ARGUMENT):LENGTH%`, and what follows.
fn command<'t>(text: &'t str, purpose_header: &str) -> Result<(Option<Meaning>, &'t str), String> {
    let is_of_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let (name, rest) = text.split_at(text.find(|character| !is_of_name(character)).unwrap_or(text.len()));
    if name.is_empty() {
        return Err("`%` without the name of a command; a percent sign itself is `%%`".to_string());
    }
    let (argument, rest) = match rest.strip_prefix('(') {
        // An argument may contain `%`, as that of START_TIME.
        Some(rest) => rest.split_once(')').ok_or_else(|| unfinished(name))?,
        None => ("", rest),
    };
    let length =
        rest.strip_prefix(':').map(|rest| rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    let rest = length.unwrap_or(rest).strip_prefix('%').ok_or_else(|| unfinished(name))?;
    Ok((names::of_command(name, argument, purpose_header), rest))
}

fn unfinished(name: &str) -> String {
    format!("the command `%{name}` has no end")
}
