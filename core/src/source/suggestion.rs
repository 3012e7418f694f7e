//! "Did you mean": the known word nearest to one that is not known.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The number of known words that a word is compared with: each comparison takes microseconds.
const MOST_COMPARED: usize = 1000;

/// The known word that was probably meant.
pub(crate) fn nearest<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Comparing takes time in proportion to the product of the lengths, and a word can have megabytes.
    const LONGEST: usize = 64;
    if wrong.len() > LONGEST {
        return None;
    }
    let wrong = wrong.to_lowercase();
    let likeness = |word: &str| strsim::jaro_winkler(&wrong, &word.to_lowercase());
    known
        .into_iter()
        .filter(|word| word.len() <= LONGEST)
        .take(MOST_COMPARED)
        .map(|word| (likeness(word), word))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, word)| word)
}

/// Returns true if two words differ, in any ASCII case, by one letter that is missing, added or another one, or by two that are
/// swapped. Shorter words than five letters have too many neighbours.
pub(crate) fn differs_by_one_edit(word: &str, known: &str) -> bool {
    const SHORTEST: usize = 5;
    const LONGEST: usize = 64;
    known.len() >= SHORTEST
        && word.len().max(known.len()) <= LONGEST
        && word.len().abs_diff(known.len()) <= 1
        && strsim::osa_distance(&word.to_ascii_lowercase(), &known.to_ascii_lowercase()) == 1
}

/// The end of a message about an unknown word: ` (did you mean …?)`, or the list of known words if none is near.
pub fn suggestion<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    const MOST_LISTED: usize = 20;
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(wrong, known.iter().copied()) {
        Some(word) => format!(" (did you mean `{word}`?)"),
        None if known.is_empty() || known.len() > MOST_LISTED => String::new(),
        None => format!(" (known: {})", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested() {
        assert_eq!(nearest("Disalow", ["allow", "disallow"]), Some("disallow"));
        assert_eq!(nearest("sitemap", ["allow", "disallow"]), None);
        let long = "allow".repeat(20);
        assert_eq!((nearest(&long, ["allow"]), nearest("allow", [&*long])), (None, None));
        assert_eq!(suggestion("mdoe", ["feeds", "mode"]), " (did you mean `mode`?)");
        assert_eq!(suggestion("x", ["feeds", "mode"]), " (known: feeds, mode)");
        assert_eq!(suggestion("x", ["word"; 21]), "");
    }
}
