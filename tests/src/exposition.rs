//! The Prometheus text format, version 0.0.4, read as strictly as it is specified.

use std::collections::{BTreeMap, BTreeSet};

/// The labels of a sample, by their names.
pub type Labels = BTreeMap<String, String>;

/// A page of metrics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exposition {
    types: BTreeMap<String, String>,
    samples: BTreeMap<(String, Labels), f64>,
}

impl Exposition {
    /// Reads a page, whose samples must each be of a metric that was described before, all in one place, none twice.
    ///
    /// # Panics
    ///
    /// If the text is not in the format; the message has the line.
    pub fn parse(text: &str) -> Self {
        assert!(text.is_empty() || text.ends_with('\n'), "the last line has no end: {text:?}");
        let mut page = Self::default();
        let mut helped: BTreeSet<&str> = BTreeSet::new();
        let mut current = "";
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap_or_else(|| panic!("no help: {line}"));
                assert!(helped.insert(name), "helped twice: {line}");
                assert!(is_name(name) && !help.contains('\\'), "{line}");
                current = name;
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap_or_else(|| panic!("no type: {line}"));
                assert!(name == current && matches!(kind, "counter" | "gauge"), "{line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                assert!(page.types.insert(name.into(), kind.into()).is_none(), "typed twice: {line}");
            } else {
                let (name, labels, value) = sample(line).unwrap_or_else(|| panic!("no sample: {line}"));
                assert!(name == current && page.types.contains_key(name), "not described here: {line}");
                assert!(page.samples.insert((name.into(), labels), value).is_none(), "twice: {line}");
            }
        }
        assert!(helped.iter().copied().eq(page.types.keys().map(String::as_str)), "help and type: {text}");
        page
    }

    /// The samples of a metric, by their labels.
    pub fn of(&self, metric: &str) -> BTreeMap<&Labels, f64> {
        let own = self.samples.iter().filter(|((name, _), _)| name == metric);
        own.map(|((_, labels), value)| (labels, *value)).collect()
    }

    /// The sum of the samples of a metric that have all these labels; `None` where none has.
    pub fn sum(&self, metric: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let has_all = |own: &Labels| {
            labels.iter().all(|(name, value)| own.get(*name).map(String::as_str) == Some(value))
        };
        let values: Vec<f64> =
            self.of(metric).into_iter().filter(|(own, _)| has_all(own)).map(|(_, value)| value).collect();
        (!values.is_empty()).then(|| values.into_iter().sum())
    }

    /// The metrics that are described, with their types.
    pub fn types(&self) -> &BTreeMap<String, String> {
        &self.types
    }
}

fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, '_' | ':'))
        && characters.all(|other| other.is_ascii_alphanumeric() || matches!(other, '_' | ':'))
}

/// One line: a name, labels in braces or none, a space, a number, and nothing more.
fn sample(line: &str) -> Option<(&str, Labels, f64)> {
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = Labels::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = rest.split_once("=\"")?;
            let (value, after) = quoted(after)?;
            if !is_name(label) || label.contains(':') || labels.insert(label.into(), value).is_some() {
                return None;
            }
            match after.split_at_checked(1)? {
                (",", next) => rest = next,
                ("}", next) => {
                    rest = next;
                    break;
                }
                _ => return None,
            }
        }
    }
    let value = rest.strip_prefix(' ')?;
    (is_name(name) && !value.contains(' ')).then_some(())?;
    Some((name, labels, value.parse().ok()?))
}

/// The text up to the closing quote, and what follows that.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            '"' => return Some((value, characters.as_str())),
            '\\' => value.push(match characters.next()? {
                'n' => '\n',
                same @ ('\\' | '"') => same,
                _ => return None,
            }),
            other => value.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    const GOOD: &str = "# HELP a_total What.\n# TYPE a_total counter\na_total{x=\"1\\n\\\"\\\\\",y=\"\"} 2\na_total{x=\"\"} 3\n\
                        # HELP b Of.\n# TYPE b gauge\nb 1.5\n";

    #[test]
    fn what_is_right_is_read() {
        let page = Exposition::parse(GOOD);
        assert_eq!(page.sum("a_total", &[]), Some(5.0));
        assert_eq!(page.sum("a_total", &[("x", "1\n\"\\")]), Some(2.0));
        assert_eq!((page.sum("b", &[]), page.sum("c", &[])), (Some(1.5), None));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (from, to) in [
            ("b 1.5\n", "b 1.5"),
            ("b 1.5", "b  1.5"),
            ("b 1.5", "b one"),
            ("b 1.5", "c 1.5"),
            ("b 1.5", "b 1.5\nb 1.5"),
            ("b 1.5", "b 1.5\na_total 1"),
            ("b 1.5", "b{} 1.5"),
            ("# TYPE b gauge\n", ""),
            ("# HELP b Of.\n", ""),
            ("# TYPE b gauge", "# TYPE b counter"),
            ("x=\"\"", "x=\"\\t\""),
            ("x=\"\"", "x=\"\"\""),
            ("x=\"\"", "0=\"\""),
            ("x=\"\"", "x=\"\",x=\"\""),
        ] {
            let bad = GOOD.replacen(from, to, 1);
            assert_ne!(bad, GOOD);
            assert!(catch_unwind(|| Exposition::parse(&bad)).is_err(), "{bad}");
        }
    }
}
