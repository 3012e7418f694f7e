//! Bits for the bytes of a text that are in a class, 64 at a time, without a branch a byte.
//!
//! Where words begin and end is found by shifting such masks, so that only those places are looked at: about twenty
//! in a browser's User-Agent.

/// Bytes that a mask covers.
pub(super) const BLOCK: usize = 64;

/// The blocks of `text`, the last one filled up with spaces; there is always one that ends in a space.
pub(super) fn blocks(text: &[u8]) -> impl Iterator<Item = [u8; BLOCK]> {
    let (whole, rest) = text.as_chunks::<BLOCK>();
    let mut last = [b' '; BLOCK];
    if let Some(start) = last.get_mut(..rest.len()) {
        start.copy_from_slice(rest);
    }
    whole.iter().copied().chain([last])
}

/// Bit `n` says whether byte `n` of the block is in the class. The loops are simple enough for the compiler to turn
/// them into vector instructions where the target has some.
#[inline]
pub(super) fn mask(block: &[u8; BLOCK], class: impl Fn(u8) -> bool) -> u64 {
    let flags = block.map(|byte| u8::from(class(byte)));
    let (eights, _) = flags.as_chunks::<8>();
    eights.iter().rev().fold(0, |mask, eight| {
        // Gathers the lowest bits of eight bytes in the highest byte of the product.
        mask << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

/// The positions of the bits that are set, from the lowest.
#[inline]
pub(super) fn positions(mut mask: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let position = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        position
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn masks_are_what_a_loop_finds() {
        let text: Vec<u8> = (0..=255).chain(*b"end").collect();
        let letter = |byte: u8| byte.is_ascii_alphabetic();
        let found: Vec<usize> = blocks(&text)
            .enumerate()
            .flat_map(|(index, block)| positions(mask(&block, letter)).map(move |at| index * BLOCK + at))
            .collect();
        let expected: Vec<usize> = (0..text.len()).filter(|at| letter(text[*at])).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_last_block_always_has_room() {
        assert_eq!(blocks(&[b'x'; 64]).count(), 2);
        assert_eq!(blocks(&[b'x'; 63]).last().map(|block| block[62..] == *b"x "), Some(true));
        assert_eq!(blocks(b"").next(), Some([b' '; 64]));
    }
}
