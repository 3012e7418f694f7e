//! The properties that rules change at times, or for some of the elements with a name, so that text may be seen.

use super::declarations::Style;
use super::look::{OF_LETTERS, OF_SIGHT};

/// Properties of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Properties {
    pub(super) color: bool,
    pub(super) background: bool,
    pub(super) others: u64,
}

impl Properties {
    const SIGHT: Self = Self { color: false, background: false, others: OF_SIGHT };
    const COLOR: Self = Self { color: true, background: true, others: 0 };
    const TEXT: Self = Self { others: OF_LETTERS, ..Self::COLOR };

    fn among(self, others: Self) -> Self {
        Self {
            color: self.color && others.color,
            background: self.background && others.background,
            others: self.others & others.others,
        }
    }

    fn without(self, others: Self) -> Self {
        Self {
            color: self.color && !others.color,
            background: self.background && !others.background,
            others: self.others & !others.others,
        }
    }

    pub(super) fn with(self, others: Self) -> Self {
        Self {
            color: self.color || others.color,
            background: self.background || others.background,
            others: self.others | others.others,
        }
    }
}

/// The properties that declarations change, without and with `!important`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(super) usual: Properties,
    pub(super) important: Properties,
}

impl Changes {
    /// Those of a rule.
    pub(super) fn of(style: &Style) -> Self {
        Self { usual: style.usual.shown(), important: style.important.shown() }
    }

    fn among(self, others: Properties) -> Self {
        Self { usual: self.usual.among(others), important: self.important.among(others) }
    }

    /// Those that show an element, whatever its text looks like.
    pub(super) fn of_sight(self) -> Self {
        self.among(Properties::SIGHT)
    }

    /// Those of colors.
    pub(super) fn of_color(self) -> Self {
        self.among(Properties::COLOR)
    }

    /// Those of text.
    pub(super) fn of_text(self) -> Self {
        self.among(Properties::TEXT)
    }

    /// Those that count beside the declarations of an element itself.
    pub(crate) fn beside(self, own: &Style) -> Self {
        let important = own.important.declared();
        Self {
            usual: self.usual.without(own.usual.declared().with(important)),
            important: self.important.without(important),
        }
    }

    /// The properties of both.
    pub(super) fn with(self, other: Self) -> Self {
        Self { usual: self.usual.with(other.usual), important: self.important.with(other.important) }
    }
}
