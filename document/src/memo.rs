//! Remembered results for values of attributes, since pages have the same ones again and again.

/// The results of a function for the last values. `K` is what they depend on beside the values.
#[derive(Debug)]
pub(crate) struct Memo<'p, T, K = ()>(Vec<Option<(K, &'p [u8], T)>>);

impl<'p, T: Copy, K: Copy + Eq> Memo<'p, T, K> {
    /// The values that are kept at a time: each has one place, where the next one replaces it.
    const PLACES: usize = 256;

    pub(crate) fn new() -> Self {
        Self(vec![None; Self::PLACES])
    }

    /// The result of the function for a value at its place in memory. The value is not read, since that would take longer
    /// than finding the result; an equal value at another place counts as another.
    pub(crate) fn get_at(&mut self, key: K, value: &'p [u8], of: impl FnOnce() -> T) -> T {
        let hash = value.as_ptr().addr() as u64 ^ (value.len() as u64).rotate_left(48);
        self.get_if(hash, key, value, |known| std::ptr::eq(known, value), of)
    }

    fn get_if(
        &mut self,
        hash: u64,
        key: K,
        value: &'p [u8],
        is_same: impl FnOnce(&[u8]) -> bool,
        of: impl FnOnce() -> T,
    ) -> T {
        const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
        let place = self.0.get_mut((hash.wrapping_mul(MULTIPLIER) >> 56) as usize);
        match place {
            Some(Some((known_key, known, said))) if *known_key == key && is_same(known) => *said,
            Some(place) => place.insert((key, value, of())).2,
            None => of(),
        }
    }
}

impl<'p, T: Copy> Memo<'p, T> {
    /// The result of the function for a value, wherever it is.
    pub(crate) fn get(&mut self, value: &'p [u8], of: impl FnOnce() -> T) -> T {
        let ends = match (value.first_chunk(), value.last_chunk()) {
            (Some(first), Some(last)) => {
                u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29)
            }
            _ => value.iter().fold(0, |ends, byte| ends << 8 | u64::from(*byte)),
        };
        self.get_if(ends ^ value.len() as u64, (), value, |known| known == value, of)
    }
}

#[cfg(test)]
mod tests {
    use super::Memo;

    #[test]
    fn a_value_says_the_same_when_it_comes_again() {
        let values: Vec<String> = (0..1000).map(|n| format!("entry {}", "x".repeat(n))).collect();
        let (mut memo, mut memo_at) = (Memo::new(), Memo::new());
        for value in values.iter().chain(&values).map(String::as_bytes) {
            assert_eq!(memo.get(value, || value.len()), value.len());
            for key in [1, 1, 2] {
                assert_eq!(memo_at.get_at(key, value, || key * value.len()), key * value.len());
            }
        }
    }

    #[test]
    fn equal_values_are_one_unless_their_places_count() {
        let (here, there) = (b"entry".to_vec(), b"entry".to_vec());
        let (mut memo, mut memo_at) = (Memo::new(), Memo::new());
        assert_eq!([memo.get(&here, || 1), memo.get(&there, || 2), memo.get(b"", || 3)], [1, 1, 3]);
        // Both may have one place of the memo.
        let at = [(&here, 1), (&here, 2), (&there, 3), (&there, 4)];
        assert_eq!(at.map(|(value, n)| memo_at.get_at((), value, || n)), [1, 1, 3, 3]);
    }
}
