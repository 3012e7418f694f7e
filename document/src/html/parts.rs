//! Parts of a page that a browser shows in another place than where they stand, as they are found while the page is read.

use super::NodeId;
use super::values::{Place, Values};

/// A part that came after its place, and where it goes: what React's `$RC` and `$RS` do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// The id of the `template` that keeps the place.
    pub(super) target: Place,
    /// The id of the element that holds the part.
    pub(super) segment: Place,
}

/// A comment that begins or ends what stands in for a part until the part comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Boundary {
    /// The number of the node after the comment.
    pub(super) at: NodeId,
    /// The element that the comment is in.
    pub(super) parent: NodeId,
    pub(super) is_end: bool,
}

/// A style sheet in the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnSheet {
    pub(super) place: Place,
    /// It counts on all screens, and with scripts.
    pub(super) is_always: bool,
}

/// All of them, and what decides which of them people see.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) moves: Vec<Move>,
    /// The ids of templates that keep the places of parts.
    pub(super) places: Vec<Place>,
    pub(super) boundaries: Vec<Boundary>,
    /// A `template` holds what its parent shows.
    pub(super) has_shadows: bool,
    pub(super) styles: Vec<OwnSheet>,
    /// A browser runs a script of the page.
    pub(super) has_scripts: bool,
    /// A sheet of the page imports others.
    pub(super) has_imports: bool,
    /// An element has declarations of its own that may hide its text.
    pub(super) has_styled: bool,
    /// There are parts for browsers without scripts.
    pub(super) has_noscript: bool,
    /// The elements that the page calls a product.
    pub(super) products: u32,
    /// Elements have roles that make them parts of tables or lists, or headings.
    pub(super) has_roles: bool,
    /// There are parts that tabs or buttons show.
    pub(super) has_panels: bool,
}

impl Parts {
    /// Returns true if all parts stand where they are shown.
    pub(super) fn is_in_order(&self) -> bool {
        self.moves.is_empty() && !self.has_shadows && !self.is_without_calls()
    }

    /// Returns true if no script puts parts in their places although the page has places for them: somebody who saved the
    /// page has taken its scripts out.
    pub(super) fn is_without_calls(&self) -> bool {
        !self.places.is_empty() && !self.has_scripts && self.moves.is_empty()
    }

    /// Returns true if nothing but attributes decides what people see.
    pub(super) fn is_plain(&self) -> bool {
        self.styles.is_empty() && !self.has_styled && !self.has_panels
    }

    /// Adds a piece of a style sheet, which may go on from the last one.
    pub(super) fn add_style(&mut self, place: Place, begins: bool, is_always: bool) {
        match self.styles.last_mut().filter(|_| !begins) {
            Some(last) => last.place = last.place.to(place),
            None => self.styles.push(OwnSheet { place, is_always }),
        }
    }

    /// Reads the calls in a script that put parts in their places. No script is run.
    pub(super) fn read_script(&mut self, script: &[u8], values: &Values<'_>) {
        for at in memchr::memchr_iter(b'$', script) {
            let call = script.get(at + 1..).and_then(|call| call.strip_prefix(b"R")?.split_first());
            // `$RR` is `$RC` with style sheets before.
            let Some((name @ (b'C' | b'R' | b'S'), arguments)) = call else { continue };
            let Some((first, rest)) = arguments.strip_prefix(b"(").and_then(quoted) else { continue };
            let Some(rest) = rest.trim_ascii_start().strip_prefix(b",") else { continue };
            let Some((second, _)) = quoted(rest) else { continue };
            let (target, segment) = if *name == b'S' { (second, first) } else { (first, second) };
            self.add(values.place(target), values.place(segment));
        }
    }

    pub(super) fn add(&mut self, target: Option<Place>, segment: Option<Place>) {
        if let (Some(target), Some(segment)) = (target, segment) {
            self.moves.push(Move { target, segment });
        }
    }
}

/// The longest id of a part.
const LONGEST_ID: usize = 64;

/// The string at the start of a script, without its quotes, and what follows it.
fn quoted(script: &[u8]) -> Option<(&[u8], &[u8])> {
    let (quote, rest) = script.trim_ascii_start().split_first()?;
    let end = rest.iter().take(LONGEST_ID).position(|byte| byte == quote)?;
    let (id, rest) = rest.split_at_checked(end)?;
    let is_id = !id.is_empty() && !id.contains(&b'\\') && matches!(quote, b'"' | b'\'');
    Some((id, rest.get(1..)?)).filter(|_| is_id)
}
