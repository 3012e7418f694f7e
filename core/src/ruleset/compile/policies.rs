//! Reads the policies of a configuration.

use alloc::vec::Vec;

use crate::config::RobotsTagSyntax;
use crate::policy::automation_preferences::PreferencesFile;
use crate::policy::robots::RobotsFile;
use crate::policy::robots_tag::{self, RobotsTag};
use crate::source::diagnostic::{Diagnostic, Diagnostics, Load};
use crate::source::position::Position;

/// Reads the policies that a configuration names or holds. Lint has a reader of its own, which is why loading needs none of
/// its texts.
pub(crate) trait PolicyReader {
    /// A file's robots.txt; `None`: it is refused.
    fn robots(&mut self, file: PolicySource<'_>) -> (Option<RobotsFile>, Vec<Diagnostic>);

    /// A file's automation-preferences.txt; `None`: it is refused.
    fn preferences(&mut self, file: PolicySource<'_>) -> (Option<PreferencesFile>, Vec<Diagnostic>);

    /// The Robots-Tag rules of a scope; `place` returns the place of a part of them in the document.
    fn robots_tag(
        &mut self,
        rules: &str,
        syntax: RobotsTagSyntax,
        place: &mut dyn FnMut(&[u8]) -> Option<Position>,
        document: &mut Diagnostics,
    ) -> RobotsTag<'static>;
}

/// A policy file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicySource<'f> {
    /// As the configuration names it.
    pub(crate) path: &'f str,
    /// As diagnostics name it.
    pub(crate) name: &'f str,
    pub(crate) text: &'f [u8],
}

/// Reads as gates do.
pub(crate) struct Lenient;

impl PolicyReader for Lenient {
    fn robots(&mut self, file: PolicySource<'_>) -> (Option<RobotsFile>, Vec<Diagnostic>) {
        let mut diagnostics = Diagnostics::new(file.name, Load);
        let read = RobotsFile::parse(file.text, &mut diagnostics);
        (read, diagnostics.into_items_by_position())
    }

    fn preferences(&mut self, file: PolicySource<'_>) -> (Option<PreferencesFile>, Vec<Diagnostic>) {
        let mut diagnostics = Diagnostics::new(file.name, Load);
        let read = PreferencesFile::parse(file.text, &mut diagnostics);
        (read, diagnostics.into_items_by_position())
    }

    fn robots_tag(
        &mut self,
        rules: &str,
        syntax: RobotsTagSyntax,
        place: &mut dyn FnMut(&[u8]) -> Option<Position>,
        document: &mut Diagnostics,
    ) -> RobotsTag<'static> {
        robots_tag::rules(rules, syntax, place, document).into_owned()
    }
}
