//! The mark that some editors put before UTF-8 text.

/// Bytes without the byte order mark that some editors put before UTF-8 text, or the part of one that others leave there,
/// which is not a character. Google's parser of robots.txt skips both, too.
pub(crate) fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => rest,
        // A byte that continues the character makes it another one.
        [0xEF, 0xBB, 0x80..=0xBF, ..] | [0xEF, 0x80..=0xBA | 0xBC..=0xBF, ..] => bytes,
        [0xEF, 0xBB, rest @ ..] | [0xEF, rest @ ..] => rest,
        _ => bytes,
    }
}
