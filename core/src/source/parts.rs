//! Text that is read part by part, so that a large source takes no more memory than a small one.

use alloc::format;
use alloc::vec::Vec;

use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::pages::{PAGE, Pages, Source, Unmarked};
use crate::source::position::{Locator, Position};
use crate::source::text::{self, Expected};

/// A part of a text.
pub(crate) struct Part<'t> {
    pub(crate) text: &'t str,
    pub(crate) locator: Locator<'t>,
    /// True if the text ends here.
    pub(crate) is_last: bool,
}

/// Calls `step` with the text part by part. The step gives how many bytes it has dealt with; the next part begins with the
/// others, and is longer than `least` bytes or the last one. `None` after an error.
pub(crate) fn each_part<S: Strictness>(
    source: Source<'_>,
    expected: Expected,
    least: usize,
    diagnostics: &mut Diagnostics<S>,
    step: &mut dyn FnMut(Part<'_>, &mut Diagnostics<S>) -> Option<usize>,
) -> Option<()> {
    match source {
        Source::Bytes(bytes) => {
            let text = text::read(bytes, expected, diagnostics)?;
            let locator = Locator::new(text.as_bytes());
            step(Part { text, locator, is_last: true }, diagnostics).map(drop)
        }
        Source::Pages(pages) => each_page(pages, expected, least, diagnostics, step),
    }
}

fn each_page<S: Strictness>(
    pages: &dyn Pages,
    expected: Expected,
    least: usize,
    diagnostics: &mut Diagnostics<S>,
    step: &mut dyn FnMut(Part<'_>, &mut Diagnostics<S>) -> Option<usize>,
) -> Option<()> {
    let pages = Unmarked::new(pages).map_err(|error| unreadable(&error, diagnostics)).ok()?;
    let mut buffer = Vec::new();
    let (mut offset, mut position, mut wanted) = (0_u64, Position::START, PAGE.max(least.saturating_mul(2)));
    loop {
        let (known, more) = (buffer.len(), wanted.saturating_sub(buffer.len()));
        let next = offset + known as u64;
        let appended = Source::Pages(&pages).append(next, more, &mut buffer);
        let is_end = appended.map_err(|error| unreadable(&error, diagnostics)).ok()?;
        if offset == 0 && known == 0 && !text::is_text(&buffer, expected, diagnostics) {
            return None;
        }
        let text = match core::str::from_utf8(&buffer) {
            Ok(text) => text,
            // The character may go on in the next part.
            Err(error) if error.error_len().is_none() && !is_end => {
                buffer.get(..error.valid_up_to()).and_then(|whole| core::str::from_utf8(whole).ok())?
            }
            Err(error) => {
                let position = Locator::starting_at(&buffer, position).position(error.valid_up_to());
                text::report_encoding(&buffer, &error, position, expected, diagnostics);
                return None;
            }
        };
        if offset == 0 && known == 0 && !text::is_no_page(text, expected, diagnostics) {
            return None;
        }
        let locator = Locator::starting_at(text.as_bytes(), position);
        let done = step(Part { text, locator: locator.clone(), is_last: is_end }, diagnostics)?;
        if is_end {
            return Some(());
        }
        position = { locator }.position(done);
        offset += done as u64;
        buffer.drain(..done.min(buffer.len()));
        // A step that needs more gets more.
        wanted = if done == 0 { wanted.saturating_mul(2) } else { PAGE.max(least.saturating_mul(2)) };
    }
}

/// Reports a source that can't be read.
pub(crate) fn unreadable<S: Strictness>(error: &str, diagnostics: &mut Diagnostics<S>) {
    diagnostics.error(None, None, format!("cannot be read: {error}"));
}
