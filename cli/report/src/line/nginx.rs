//! nginx's `log_format`.

use super::builder::Escape;
use super::names;
use super::template::{Piece, Template};

/// nginx's own format.
pub(crate) const COMBINED: &str = r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#;

/// Compiles the text of a format, or a whole `log_format` directive with its name, `escape` and quotes.
pub(crate) fn template(format: &str, purpose_header: &str) -> Result<Template, String> {
    let (text, escape) = match format.trim_start().strip_prefix("log_format") {
        Some(directive) if directive.starts_with(char::is_whitespace) => of_directive(directive)?,
        _ => (format.trim_end_matches(['\r', '\n']).to_string(), Escape::Backslash),
    };
    compile(&text, escape, purpose_header, false)
}

/// Compiles a format that lines may go on behind.
pub(crate) fn open_template(format: &str) -> Result<Template, String> {
    compile(format, Escape::Backslash, "", true)
}

fn compile(text: &str, escape: Escape, purpose_header: &str, may_go_on: bool) -> Result<Template, String> {
    let (pieces, variables) = pieces(text, purpose_header)?;
    Template::new(pieces, escape, may_go_on).map_err(|ambiguous| {
        let name = |at: usize| variables.get(at).copied().unwrap_or_default();
        format!(
            "nothing separates ${} from ${}; put a space or quotes between them",
            name(ambiguous.0 - 1),
            name(ambiguous.0)
        )
    })
}

/// The pieces of a format, and the names of its variables.
fn pieces<'t>(text: &'t str, purpose_header: &str) -> Result<(Vec<Piece>, Vec<&'t str>), String> {
    let mut pieces = Vec::new();
    let mut variables = Vec::new();
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        pieces.push(Piece::Text(rest[..dollar].into()));
        let after = &rest[dollar + 1..];
        let is_of_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let (name, following) = match after.strip_prefix('{').and_then(|braced| braced.split_once('}')) {
            Some(braced) => braced,
            None => after.split_at(after.find(|character| !is_of_name(character)).unwrap_or(after.len())),
        };
        if name.is_empty() || !name.chars().all(is_of_name) {
            return Err("`$` without the name of a variable".to_string());
        }
        let kind = if names::is_free(name) { Piece::Free } else { Piece::Field };
        pieces.push(kind(names::of_variable(name, purpose_header)));
        variables.push(name);
        rest = following;
    }
    pieces.push(Piece::Text(rest.into()));
    Ok((pieces, variables))
}

/// The format in `name escape=json 'text' "text";`: nginx joins the texts.
fn of_directive(directive: &str) -> Result<(String, Escape), String> {
    let mut words = words(directive)?.into_iter().skip(1).peekable();
    let escape = match words.next_if(|(word, is_quoted)| !is_quoted && word.starts_with("escape=")) {
        Some((word, _)) if word == "escape=none" => Escape::None,
        _ => Escape::Backslash,
    };
    let text: String = words.map(|(word, _)| word).collect();
    if text.is_empty() {
        return Err("the log_format directive has no format".to_string());
    }
    Ok((text, escape))
}

/// The parameters of a directive up to its `;`, and whether each is in quotes.
fn words(directive: &str) -> Result<Vec<(String, bool)>, String> {
    let mut words = Vec::new();
    let mut rest = directive.trim_start();
    loop {
        let quote = rest.chars().next().filter(|first| matches!(first, '\'' | '"'));
        let mut word = String::new();
        let mut characters = rest.char_indices().skip(usize::from(quote.is_some()));
        let end = loop {
            match characters.next() {
                None if quote.is_some() => {
                    return Err("a quote of the log_format directive is open".to_string());
                }
                None => break rest.len(),
                Some((_, '\\')) => match characters.next() {
                    Some((_, escaped)) if matches!(escaped, '"' | '\'' | '\\') => word.push(escaped),
                    Some((_, 't')) => word.push('\t'),
                    Some((_, 'r')) => word.push('\r'),
                    Some((_, 'n')) => word.push('\n'),
                    Some((_, other)) => word.extend(['\\', other]),
                    None => word.push('\\'),
                },
                Some((at, character)) if Some(character) == quote => break at + 1,
                Some((at, character))
                    if quote.is_none() && (character.is_whitespace() || character == ';') =>
                {
                    break at;
                }
                Some((_, character)) => word.push(character),
            }
        };
        if quote.is_some() || !word.is_empty() {
            words.push((word, quote.is_some()));
        }
        rest = rest[end..].trim_start();
        if rest.is_empty() || rest.starts_with(';') {
            return Ok(words);
        }
    }
}
