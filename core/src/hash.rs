//! Hashes, where those who could make keys collide gain nothing by it.

/// The finaliser of SplitMix64: every bit of the result depends on every bit of the number.
pub(crate) const fn mix(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The hash of a text in whatever ASCII case, eight bytes at a time. Both the high and the low bits depend on all of it.
#[inline]
pub(crate) fn of_folded(text: &[u8]) -> u64 {
    folded(text).0
}

/// [`of_folded`], if the text is ASCII.
#[inline]
pub(crate) fn of_folded_ascii(text: &[u8]) -> Option<u64> {
    let (hash, bits) = folded(text);
    (bits & 0x8080_8080_8080_8080 == 0).then_some(hash)
}

/// The hash of a text in whatever ASCII case, and the bits that occur in it.
#[inline]
fn folded(text: &[u8]) -> (u64, u64) {
    let (eights, rest) = text.as_chunks();
    let (mut hash, mut bits) = (text.len() as u64, 0);
    let mut take = |eight: u64| {
        hash = with_eight(hash, lower_case(eight));
        bits |= eight;
    };
    eights.iter().for_each(|eight| take(u64::from_le_bytes(*eight)));
    if !rest.is_empty() {
        take(last_bytes(text));
    }
    (hash ^ hash >> 32, bits)
}

/// The hash of some bytes, 16 at a time. Only the high bits depend on all of them.
#[inline]
pub(crate) fn of_bytes(bytes: &[u8]) -> u64 {
    let (sixteens, rest) = bytes.as_chunks();
    let mut hash = bytes.len() as u64;
    for sixteen in sixteens {
        hash = with_sixteen(hash, sixteen);
    }
    match (rest, bytes.last_chunk()) {
        ([], _) => hash,
        (_, Some(last)) => with_sixteen(hash, last),
        _ => rest.iter().fold(hash, |hash, byte| with_eight(hash, u64::from(*byte))),
    }
}

#[inline]
fn with_sixteen(hash: u64, bytes: &[u8; 16]) -> u64 {
    let (eights, _) = bytes.as_chunks();
    eights.iter().fold(hash, |hash, eight| with_eight(hash, u64::from_le_bytes(*eight)))
}

/// Returns true if two texts are the same, eight bytes at a time in Wasm: the C library compares byte by byte there.
#[inline]
pub(crate) fn is_same(text: &[u8], other: &[u8]) -> bool {
    if !cfg!(target_family = "wasm") {
        return text == other;
    }
    let (eights, rest) = text.as_chunks::<8>();
    let (other_eights, other_rest) = other.as_chunks::<8>();
    let mut pairs = eights.iter().zip(other_eights);
    text.len() == other.len()
        && pairs.all(|(eight, other)| u64::from_le_bytes(*eight) == u64::from_le_bytes(*other))
        && rest == other_rest
}

#[inline]
const fn with_eight(hash: u64, eight: u64) -> u64 {
    (hash.rotate_left(5) ^ eight).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Eight letters in lower case: bit 5 is set in all bytes.
#[inline]
const fn lower_case(eight: u64) -> u64 {
    eight | 0x2020_2020_2020_2020
}

/// The last eight bytes of a text, or each byte of a shorter one, some of them twice: without a loop.
#[inline]
fn last_bytes(text: &[u8]) -> u64 {
    if let Some(last) = text.last_chunk() {
        return u64::from_le_bytes(*last);
    }
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        return u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last));
    }
    let byte = |at: usize| u64::from(text.get(at).copied().unwrap_or_default());
    byte(0) << 16 | byte(text.len() / 2) << 8 | byte(text.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    #[test]
    fn texts_are_the_same_if_each_byte_is() {
        let text: Vec<u8> = (b'a'..=b'z').collect();
        for length in 0..=text.len() {
            let text = &text[..length];
            assert!(is_same(text, text));
            assert!(!is_same(text, &[text, b"x"].concat()));
            for at in 0..length {
                let mut other = text.to_vec();
                other[at] = b'-';
                assert!(!is_same(text, &other), "{length} {at}");
            }
        }
    }

    #[test]
    fn the_high_bits_of_a_hash_depend_on_each_byte() {
        let high = |bytes: &[u8]| of_bytes(bytes) >> 24;
        let bytes: Vec<u8> = (1..=80).collect();
        let mut seen = BTreeSet::new();
        for length in 0..=bytes.len() {
            let bytes = &bytes[..length];
            assert!(seen.insert(high(bytes)), "{length}");
            for at in 0..length {
                for bit in 0..u8::BITS {
                    let mut other = bytes.to_vec();
                    other[at] ^= 1 << bit;
                    assert_ne!(high(&other), high(bytes), "{length} {at} {bit}");
                }
            }
        }
    }

    #[test]
    fn the_hash_of_a_text_depends_on_each_byte_and_on_no_case() {
        let text: Vec<u8> = (b'a'..=b'z').collect();
        let mut seen = BTreeSet::new();
        for length in 0..=text.len() {
            let text = &text[..length];
            assert!(seen.insert(of_folded(text)), "{length}");
            assert_eq!(of_folded(&text.to_ascii_uppercase()), of_folded(text));
            for at in 0..length {
                let mut other = text.to_vec();
                other[at] = b'-';
                assert!(seen.insert(of_folded(&other)), "{length} {at}");
            }
        }
    }
}
