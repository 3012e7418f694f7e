//! Properties of texts.

/// The tokens that a language model takes for a text, approximately: four ASCII characters make one, two letters of an
/// alphabet with two bytes each, one character of all other scripts.
pub fn approximate_tokens(text: &str) -> u64 {
    // No more than a byte can count, and whole registers, so that many bytes are counted at a time.
    const AT_A_TIME: usize = 192;
    // The characters of one byte, of several bytes, and of these those of three or four.
    let (mut ascii, mut wide, mut wider) = (0_u64, 0_u64, 0_u64);
    for bytes in text.as_bytes().chunks(AT_A_TIME) {
        // Most pages are little else.
        if bytes.is_ascii() {
            ascii += bytes.len() as u64;
            continue;
        }
        let (mut ascii_here, mut wide_here, mut wider_here) = (0_u8, 0_u8, 0_u8);
        for byte in bytes {
            ascii_here += u8::from(byte.is_ascii());
            wide_here += u8::from(*byte >= 0xc0);
            wider_here += u8::from(*byte >= 0xe0);
        }
        ascii += u64::from(ascii_here);
        wide += u64::from(wide_here);
        wider += u64::from(wider_here);
    }
    ascii.div_ceil(4) + (wide - wider).div_ceil(2) + wider
}

/// Returns true if nobody sees a character: people would not know its meaning for an agent.
pub(crate) fn is_invisible(character: char) -> bool {
    // Most characters are letters, digits and signs of ASCII.
    !matches!(character, ' '..='~')
        && matches!(
            character,
            // Controls, but for those that are blanks.
            '\0'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}'
                | '\u{ad}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
                // Letters without a form.
                | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
                // Directions that override the text's own; marks and isolates stay.
                | '\u{202a}'..='\u{202e}'
        )
}
