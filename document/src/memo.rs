//! Remembered results for values of attributes, since pages have the same ones again and again.

/// The results of a function for the last values.
#[derive(Debug)]
pub(crate) struct Memo<'p, T> {
    places: Vec<(&'p [u8], T)>,
    /// The function.
    of: fn(&[u8]) -> T,
}

impl<'p, T: Copy> Memo<'p, T> {
    /// The values that are kept at a time.
    const PLACES: usize = 256;

    pub(crate) fn new(of: fn(&[u8]) -> T) -> Self {
        Self { places: vec![(&[], of(&[])); Self::PLACES], of }
    }

    /// The result of the function for a value.
    pub(crate) fn get(&mut self, value: &'p [u8]) -> T {
        let of = self.of;
        match self.places.get_mut(place(value)) {
            Some((known, said)) if *known == value => *said,
            Some(place) => {
                *place = (value, of(value));
                place.1
            }
            None => of(value),
        }
    }
}

/// The only place where a value is looked for: by its length, and by the bytes at its start and end.
fn place(value: &[u8]) -> usize {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let ends = match (value.first_chunk(), value.last_chunk()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29),
        _ => value.iter().fold(0, |ends, byte| ends << 8 | u64::from(*byte)),
    };
    let hash = (ends ^ value.len() as u64).wrapping_mul(MULTIPLIER);
    (hash >> 56) as usize
}

#[cfg(test)]
mod tests {
    use super::Memo;

    #[test]
    fn a_value_says_the_same_when_it_comes_again() {
        let length = |value: &[u8]| value.len();
        let values: Vec<String> = (0..1000).map(|n| format!("entry {}", "x".repeat(n))).collect();
        let mut memo = Memo::new(length);
        for value in values.iter().chain(&values) {
            for _ in 0..2 {
                assert_eq!(memo.get(value.as_bytes()), value.len());
            }
        }
        assert_eq!(memo.get(b""), 0);
    }
}
