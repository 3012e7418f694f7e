//! The similarity of a text to the truth.

use std::collections::HashMap;

use crate::corpus::Truth;

/// The way a corpus is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Runs of four words, as the benchmark of articles counts.
    Shingles,
    /// Words without their order, as the benchmark of typed pages counts.
    Words,
    /// Given snippets.
    Snippets,
}

impl Measure {
    pub(crate) fn of(corpus: &str) -> Self {
        match corpus {
            "types" | "types-kept" => Self::Words,
            "snippets" => Self::Snippets,
            _ => Self::Shingles,
        }
    }
}

/// The findings for one page: true, false and missing parts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Score {
    found: f64,
    wrong: f64,
    missing: f64,
}

impl Score {
    pub(crate) fn precision(self) -> f64 {
        ratio(self.found, self.found + self.wrong)
    }

    pub(crate) fn recall(self) -> f64 {
        ratio(self.found, self.found + self.missing)
    }

    pub(crate) fn f1(self) -> f64 {
        harmonic(self.precision(), self.recall())
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 1.0 }
}

fn harmonic(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

/// The score of a text.
pub(crate) fn score(measure: Measure, truth: &Truth, text: &str) -> Score {
    match measure {
        Measure::Snippets => {
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let text = words(text);
            let count = |snippets: &[String]| {
                snippets.iter().filter(|part| text.contains(&words(part))).count() as f64
            };
            let found = count(&truth.with);
            Score { found, wrong: count(&truth.without), missing: truth.with.len() as f64 - found }
        }
        Measure::Shingles => compare(&tokens(truth.text.as_deref().unwrap_or_default()), &tokens(text), 4),
        Measure::Words => {
            let lower = |text: &str| text.to_lowercase();
            compare(&tokens(&lower(truth.text.as_deref().unwrap_or_default())), &tokens(&lower(text)), 1)
        }
    }
}

/// The words of a text, as `\w+` of Python finds them.
fn tokens(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect()
}

fn compare(truth: &[&str], text: &[&str], length: usize) -> Score {
    let count = |words: &[&str]| {
        let mut counts: HashMap<Vec<String>, (f64, f64)> = HashMap::new();
        let whole = words.len().min(length);
        if whole > 0 {
            for run in words.windows(whole) {
                counts.entry(run.iter().map(|word| (*word).to_owned()).collect()).or_default().0 += 1.0;
            }
        }
        counts
    };
    let mut counts = count(truth);
    for (run, (times, _)) in count(text) {
        counts.entry(run).or_default().1 = times;
    }
    let mut score = Score::default();
    for (truth, text) in counts.into_values() {
        score.found += f64::min(truth, text);
        score.wrong += f64::max(0.0, text - truth);
        score.missing += f64::max(0.0, truth - text);
    }
    score
}

/// The score of many pages.
pub(crate) fn mean(measure: Measure, scores: &[Score]) -> f64 {
    let count = scores.len() as f64;
    match measure {
        Measure::Words => scores.iter().map(|score| score.f1()).sum::<f64>() / count,
        Measure::Shingles => {
            // Pages on which nothing was found, or that have nothing, count for one of the two only.
            let of = |value: fn(Score) -> f64, counts: fn(&Score) -> bool| {
                let all: Vec<f64> =
                    scores.iter().filter(|score| counts(score)).map(|score| value(*score)).collect();
                all.iter().sum::<f64>() / all.len() as f64
            };
            harmonic(
                of(Score::precision, |score| score.found + score.wrong > 0.0),
                of(Score::recall, |score| score.found + score.missing > 0.0),
            )
        }
        Measure::Snippets => {
            let sum = scores.iter().fold(Score::default(), |sum, score| Score {
                found: sum.found + score.found,
                wrong: sum.wrong + score.wrong,
                missing: sum.missing + score.missing,
            });
            sum.f1()
        }
    }
}
