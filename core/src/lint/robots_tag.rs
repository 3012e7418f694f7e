//! Advice for authors of Robots-Tag headers.

use crate::policy::lines::Lines;
use crate::policy::robots_tag::{Checker, Syntax};
use crate::source::diagnostic::{Diagnostics, Lint};

/// Checks a file of field values.
pub(super) fn fields(text: &[u8], diagnostics: &mut Diagnostics<Lint>) {
    let mut checker = Checker::default();
    for line in Lines::new(text).filter(|line| !line.is_empty()) {
        let (name, value) = match line.directive() {
            Some(field) if field.name.eq_ignore_ascii_case(b"robots-tag") => (Name::RobotsTag, field.value),
            Some(field) if field.name.eq_ignore_ascii_case(b"x-robots-tag") => {
                (Name::XRobotsTag, field.value)
            }
            _ => (Name::None, line.content()),
        };
        let mut place = |part: &[u8]| Some(line.position(part));
        let syntax = checker.line(value, &mut place, diagnostics);
        let advice = match (name, syntax) {
            (Name::RobotsTag, Syntax::Deployed | Syntax::Mixed) => {
                "in `Robots-Tag` a token stands before `=`, and `;` before the next one: `noindex; ExampleBot=nosnippet`"
            }
            (Name::XRobotsTag, Syntax::Draft00 | Syntax::Mixed | Syntax::Structured) => {
                "current crawlers read `X-Robots-Tag` as `noindex, nosnippet` or, for one token, `ExampleBot: noindex`"
            }
            _ => continue,
        };
        diagnostics.lint_warning(line.position(value), "TAG-2", advice);
    }
}

enum Name {
    None,
    RobotsTag,
    XRobotsTag,
}
