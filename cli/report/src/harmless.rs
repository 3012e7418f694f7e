//! Text of a log that neither a terminal nor a browser nor a spreadsheet takes for more than text.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;

/// Returns true if a character moves a cursor, changes the direction of a text, or is invisible.
fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text with such characters as escapes, such as `\u{1b}`.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_harmful(character) { shown.extend(character.escape_unicode()) } else { shown.push(character) }
    }
    shown
}

/// Writes JSON in one line, with such characters as escapes.
pub(crate) fn write_json(output: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(output, Escaping))?;
    Ok(())
}

struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if fragment.is_ascii() && !fragment.contains('\x7f') {
            return writer.write_all(fragment.as_bytes());
        }
        for character in fragment.chars() {
            if is_harmful(character) {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            } else {
                writer.write_all(character.encode_utf8(&mut [0; 4]).as_bytes())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORGED: &str = "a\u{1b}[2J\r\n\u{9b}1m\u{202e}é\u{7f}\u{e0041}\u{1f916}\"\\";

    #[test]
    fn a_terminal_gets_no_control_characters() {
        let shown = harmless(FORGED);
        assert_eq!(shown, "a\\u{1b}[2J\\u{d}\\u{a}\\u{9b}1m\\u{202e}é\\u{7f}\\u{e0041}🤖\"\\");
    }

    #[test]
    fn json_has_the_same_text_in_harmless_characters() {
        let mut json = Vec::new();
        write_json(&mut json, &FORGED).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert!(!json.chars().any(is_harmful), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), FORGED);
    }
}
