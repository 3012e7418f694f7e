//! A few texts that may stand anywhere in a User-Agent, found in one pass whatever their number.

use super::window_filter::{WINDOW, WindowFilter};

/// Texts of at least three bytes, without regard to ASCII case.
#[derive(Debug)]
pub(super) struct Phrases {
    list: &'static [&'static str],
    /// The first bytes of each.
    beginnings: WindowFilter,
}

impl Phrases {
    pub(super) const fn new(list: &'static [&'static str]) -> Self {
        let mut beginnings = WindowFilter::new();
        let mut rest = list;
        while let [phrase, others @ ..] = rest {
            match phrase.as_bytes() {
                [first, second, third, ..] => beginnings.insert([*first, *second, *third]),
                _ => beginnings.insert_all(),
            }
            rest = others;
        }
        Self { list, beginnings }
    }

    /// Whether one of them is in the text.
    pub(super) fn is_any_in(&self, text: &[u8]) -> bool {
        let begins_at = |at: usize| {
            let rest = text.get(at..).unwrap_or_default();
            self.list.iter().any(|phrase| {
                rest.get(..phrase.len()).is_some_and(|part| part.eq_ignore_ascii_case(phrase.as_bytes()))
            })
        };
        text.windows(WINDOW).enumerate().any(|(at, window)| self.beginnings.contains(window) && begins_at(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_anywhere_in_any_case() {
        static PHRASES: Phrases = Phrases::new(&["Gecko", "(Win", "abc"]);
        for text in ["like gecko) x", "Mozilla/4.0 (WINDOWS", "ABC", "xxabc"] {
            assert!(PHRASES.is_any_in(text.as_bytes()), "{text}");
        }
        for text in ["", "ab", "geck", "Wind", "a bc"] {
            assert!(!PHRASES.is_any_in(text.as_bytes()), "{text}");
        }
    }
}
