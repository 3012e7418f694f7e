//! The effect of declarations on an element's text.

use super::changes::Properties;
use super::color::Color;
use super::value::{
    FILTERS, Length, MATH, SHAPES, TRANSFORMS, are_all, are_lengths, arguments, clips_all, has_room,
    is_blurred, is_edge, is_number, is_of_all, is_one_of, is_shifted_away, is_zero, lengths, moves_away,
    sides, words,
};

/// The part of an element that people see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    Shown,
    /// Nothing.
    Hidden,
    /// Nothing, in the way that pages use for text which a screen reader reads.
    Clipped,
}

/// The size of letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FontSize {
    Zero,
    Some,
}

macro_rules! properties {
    ($($name:ident)*) => {
        properties! { @ 0; $($name)* }
    };
    (@ $bit:expr; $name:ident $($rest:ident)*) => {
        const $name: u64 = 1 << ($bit);
        properties! { @ $bit + 1; $($rest)* }
    };
    (@ $bit:expr;) => {};
}

properties! {
    DISPLAY VISIBILITY OPACITY FILTER FONT POSITION LEFT RIGHT TOP BOTTOM MARGIN_LEFT MARGIN_TOP INDENT CLIP CLIP_PATH WIDTH
    HEIGHT MOST_WIDTH MOST_HEIGHT OVERFLOW TRANSFORM TRANSLATE SCALE ROTATE ZOOM CONTENT TEXT_BACKGROUND ANIMATION BLOCK
    PARTS ROOM FLOAT SHADOW RELATIVE SPACING IMAGE PUSHED NOWRAP OUTSIDE PLACED PADDED
    PADDED_OUTSIDE GROWS AS_AROUND FIXED BELOW
}

/// The properties of the size of letters.
pub(super) const OF_LETTERS: u64 = FONT | AS_AROUND;

/// The keywords of properties that take a length.
const AUTO: &[&str] = &["auto"];
const SIZED: &[&str] = &[
    "auto",
    "min-content",
    "max-content",
    "fit-content",
    "stretch",
    "-webkit-fill-available",
    "-moz-available",
];
const MOST: &[&str] =
    &["none", "min-content", "max-content", "fit-content", "stretch", "-webkit-fill-available"];
const AS_COLOR: &[&str] = &["inherit", "unset", "currentcolor"];
const SIZES_OF_LETTERS: [&str; 9] =
    ["xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large", "math"];
/// The properties that leave an element no room.
const SIZES: u64 = WIDTH | HEIGHT | MOST_WIDTH | MOST_HEIGHT;

/// The sides from which an element may be far off.
const SIDES: u64 = LEFT | RIGHT | TOP | BOTTOM;
const MARGIN: u64 = MARGIN_LEFT | MARGIN_TOP | OUTSIDE;
/// The properties that move or shrink an element.
const MOVES: u64 = TRANSFORM | TRANSLATE | SCALE | ROTATE | ZOOM;

/// The properties that hide an element, by themselves or with others.
pub(super) const OF_SIGHT: u64 = DISPLAY
    | VISIBILITY
    | OPACITY
    | FILTER
    | POSITION
    | SIDES
    | BELOW
    | MARGIN
    | INDENT
    | CLIP
    | CLIP_PATH
    | SIZES
    | MOVES
    | CONTENT
    | SPACING
    | PUSHED;

/// A color that letters are filled with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fill {
    /// That which `color` says.
    AsColor,
    Own(Color),
}

/// Declarations about one element: of each property whether it is declared, and whether its value is one that hides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Look {
    declared: u64,
    hiding: u64,
    pub(crate) color: Option<Color>,
    /// The color that letters are filled with.
    fill: Option<Fill>,
    pub(crate) background: Option<Color>,
}

impl Look {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds declarations that count more.
    pub(super) fn add(&mut self, other: &Self) {
        self.hiding = self.hiding & !other.declared | other.hiding;
        self.declared |= other.declared;
        self.color = other.color.or(self.color);
        self.fill = other.fill.or(self.fill);
        self.background = other.background.or(self.background);
    }

    /// The same without properties that say nothing unless others of the same block do.
    pub(super) fn settled(self) -> Self {
        const OTHERS: u64 =
            ROOM | FLOAT | SHADOW | RELATIVE | NOWRAP | PADDED | PADDED_OUTSIDE | GROWS | FIXED;
        let is_alone = self.declared & !OTHERS == 0 && self.letters().or(self.background).is_none();
        if is_alone { Self::default() } else { self }
    }

    fn declare(&mut self, property: u64, hides: bool) {
        self.add(&Self { declared: property, hiding: if hides { property } else { 0 }, ..Self::default() });
    }

    /// The same where an image is in front of the color.
    pub(super) fn with_image(self) -> Self {
        let background = if self.hides(IMAGE) { Some(Color::Unknown) } else { self.background };
        Self { background, ..self }
    }

    /// Takes a declaration in lower case. Browsers pass over one whose value they do not know.
    pub(super) fn take(&mut self, name: &str, value: &str) {
        let is = |wanted: &[&str]| wanted.contains(&value);
        // Names of one length are few, so this is a jump and a comparison or two.
        match name.as_bytes() {
            b"display" => self.display(value),
            b"visibility" if is_one_of(value, &["hidden", "collapse", "visible"], &[]) => {
                self.declare(VISIBILITY, is(&["hidden", "collapse"]));
            }
            b"content-visibility" if is_one_of(value, &["hidden", "visible", "auto"], &[]) => {
                self.declare(CONTENT, is(&["hidden"]));
            }
            b"opacity" | b"-webkit-opacity" if is_number(value) => {
                self.declare(OPACITY, Length::of(value).is_some_and(|opacity| opacity.share() <= 0.02));
            }
            b"filter" | b"-webkit-filter" if is_one_of(value, &["none"], FILTERS) => {
                self.declare(FILTER, is_zero(arguments(value, "opacity")) || is_blurred(value));
            }
            b"font-size" => self.font_size(value),
            b"font" => self.font_size(size_of_font(value)),
            b"letter-spacing" => self.length(SPACING, value, (&["normal"], 1), Length::is_overlapping),
            b"zoom" if is_number(value) || is(&["normal"]) => {
                let is_small = |zoom: Length<'_>| zoom.number > 0.0 && zoom.share() <= 0.02;
                self.declare(ZOOM, Length::of(value).is_some_and(is_small));
            }
            b"position" if is_one_of(value, &["absolute", "fixed", "relative", "static", "sticky"], &[]) => {
                self.declare(POSITION, is(&["absolute", "fixed"]));
                self.declare(RELATIVE, is(&["relative"]));
                self.declare(FIXED, is(&["fixed"]));
            }
            b"left" | b"inset-inline-start" => self.left(value),
            b"right" | b"inset-inline-end" => self.length(RIGHT, value, (AUTO, 1), Length::is_far),
            b"top" | b"inset-block-start" => self.top(value),
            b"bottom" | b"inset-block-end" => self.length(BOTTOM, value, (AUTO, 1), Length::is_far),
            b"inset" if are_lengths(value, (AUTO, 4)) => {
                let [top, right, bottom, left] = sides(value);
                self.top(top);
                self.length(RIGHT, right, (AUTO, 1), Length::is_far);
                self.length(BOTTOM, bottom, (AUTO, 1), Length::is_far);
                self.left(left);
            }
            b"inset-inline" => self.length(LEFT | RIGHT, value, (AUTO, 2), Length::is_far),
            b"margin-left" | b"margin-inline-start" => self.margin_left(value),
            b"margin-inline" => self.margin_left(sides(value)[0]),
            b"margin-top" | b"margin-block-start" => self.margin_top(value),
            b"margin" if are_lengths(value, (AUTO, 4)) => {
                let [top, _, _, left] = sides(value);
                self.margin_top(top);
                self.margin_left(left);
            }
            b"text-indent" => {
                const KNOWN: (&[&str], usize) = (&["hanging", "each-line"], 3);
                self.length(INDENT, value, KNOWN, Length::is_far);
                self.length(PUSHED, value, KNOWN, Length::is_width);
            }
            b"white-space" => self.declare(NOWRAP, is(&["nowrap", "pre"])),
            b"clip" if is_one_of(value, &["auto"], &["rect"]) => {
                let inside = arguments(value, "rect");
                self.declare(CLIP, inside.is_some_and(|inside| are_all(inside, Length::is_tiny)));
            }
            b"clip-path" | b"-webkit-clip-path" if is_one_of(value, &["none"], SHAPES) => {
                self.declare(CLIP_PATH, clips_all(value));
            }
            b"width" | b"inline-size" => self.length(WIDTH, value, (SIZED, 1), Length::is_tiny),
            b"height" | b"block-size" => self.length(HEIGHT, value, (SIZED, 1), Length::is_tiny),
            b"max-width" | b"max-inline-size" => self.length(MOST_WIDTH, value, (MOST, 1), Length::is_tiny),
            b"max-height" | b"max-block-size" => self.length(MOST_HEIGHT, value, (MOST, 1), Length::is_tiny),
            // Beside another value in the other direction, `visible` is `auto`.
            b"overflow" | b"overflow-x" | b"overflow-y" if name == "overflow" || value != "visible" => {
                const CUTS: [&str; 4] = ["hidden", "clip", "auto", "scroll"];
                let is_known = |word| CUTS.contains(&word) || is_one_of(word, &["visible", "overlay"], &[]);
                if words(value).all(is_known) {
                    self.declare(OVERFLOW, words(value).any(|word| CUTS.contains(&word)));
                }
            }
            b"padding-top" | b"padding-bottom" | b"padding-block" | b"min-height" | b"min-width" => {
                self.declare(ROOM, has_room(value));
            }
            b"padding" => {
                self.declare(ROOM, has_room(value));
                self.padding_left(sides(value)[3]);
            }
            b"padding-left" | b"padding-inline" | b"padding-inline-start" => self.padding_left(value),
            b"flex" | b"flex-grow" | b"-webkit-flex" => {
                let grows = |length: Length<'_>| length.unit.is_empty() && length.number > 0.0;
                self.declare(GROWS, is(&["auto"]) || lengths(value).next().is_some_and(grows));
            }
            b"float" => self.declare(FLOAT, !is(&["none"])),
            b"transform" | b"-webkit-transform" if is_one_of(value, &["none"], TRANSFORMS) => {
                self.declare(TRANSFORM, moves_away(value));
            }
            b"translate" if is_one_of(value, &["none"], &["calc"]) || are_lengths(value, (&[], 3)) => {
                self.declare(TRANSLATE, is_shifted_away(lengths(value)));
            }
            b"scale" if is_one_of(value, &["none"], &["calc"]) || value.split(' ').all(is_number) => {
                self.declare(SCALE, lengths(value).any(Length::is_no_scale));
            }
            b"rotate" => self.declare(ROTATE, value.split_once(' ').is_some_and(|(_, turn)| is_edge(turn))),
            b"color" if !is(AS_COLOR) => self.color = Color::of(value).or(self.color),
            b"-webkit-text-fill-color" if is(AS_COLOR) => self.fill = Some(Fill::AsColor),
            b"-webkit-text-fill-color" => self.fill = Color::of(value).map(Fill::Own).or(self.fill),
            b"background" | b"background-color" => {
                self.background = Some(Color::of_background(value));
                if name == "background" {
                    self.declare(IMAGE, false);
                }
            }
            b"background-image" => self.declare(IMAGE, !is(&["none", "initial", "unset"])),
            b"background-clip" | b"-webkit-background-clip" => self.declare(TEXT_BACKGROUND, is(&["text"])),
            // Letters without a color of their own have these.
            b"-webkit-text-stroke" | b"text-shadow" => self.declare(SHADOW, !is(&["none", "0"])),
            b"animation"
            | b"animation-name"
            | b"animation-duration"
            | b"-webkit-animation"
            | b"transition" => {
                self.declare(ANIMATION, !is(&["none"]));
            }
            b"all" if is_of_all(value) => {
                *self = Self {
                    declared: u64::MAX,
                    hiding: 0,
                    color: Some(Color::Unknown),
                    fill: None,
                    background: Some(Color::Unknown),
                };
            }
            _ => {}
        }
    }

    /// Declares properties whose value is one or several lengths, one of which may hide.
    fn length<'v>(
        &mut self,
        properties: u64,
        value: &'v str,
        known: (&[&str], usize),
        hides: fn(Length<'v>) -> bool,
    ) {
        match Length::alone(value) {
            Some(length) => self.declare(properties, hides(length)),
            None if are_lengths(value, known) => self.declare(properties, lengths(value).any(hides)),
            None => {}
        }
    }

    fn left(&mut self, value: &str) {
        self.length(LEFT, value, (AUTO, 1), Length::is_far);
        self.length(PLACED, value, (AUTO, 1), Length::is_share);
    }

    /// A page goes on below, unless what is there is fixed on the screen.
    fn top(&mut self, value: &str) {
        self.length(TOP, value, (AUTO, 1), Length::is_far_before);
        self.length(BELOW, value, (AUTO, 1), Length::is_far);
    }

    fn padding_left(&mut self, value: &str) {
        let left = lengths(value).next();
        self.declare(PADDED, left.is_some_and(Length::is_wide));
        self.declare(PADDED_OUTSIDE, left.is_some_and(Length::is_as_wide_as_outside));
    }

    fn margin_left(&mut self, value: &str) {
        self.length(MARGIN_LEFT, value, (AUTO, 1), Length::is_far_before);
        self.length(OUTSIDE, value, (AUTO, 1), Length::is_outside);
    }

    fn margin_top(&mut self, value: &str) {
        self.length(MARGIN_TOP, value, (AUTO, 1), Length::is_outside);
    }

    fn font_size(&mut self, value: &str) {
        let (is_zero, is_as_around) = match Length::of(value) {
            Some(length) if length.number < 0.0 || !are_lengths(value, (&[], 1)) => return,
            Some(Length { number, unit: "%" }) => (number <= 5.0, number > 5.0),
            Some(length) => (length.is_tiny(), length.unit == "em" && !length.is_tiny()),
            None if matches!(value, "inherit" | "unset" | "smaller" | "larger") => (false, true),
            None if is_one_of(value, &SIZES_OF_LETTERS, MATH) => (false, false),
            None => return,
        };
        self.declare(FONT, is_zero);
        self.declare(AS_AROUND, is_as_around);
    }

    /// Takes a value of `display`. Browsers pass over values that they do not know.
    fn display(&mut self, value: &str) {
        let mut words = value.split(' ');
        let (first, second) = (words.next().unwrap_or_default(), words.next());
        let is_inside =
            |word: &str| matches!(word, "flow" | "flow-root" | "table" | "flex" | "grid" | "ruby");
        let is_pair = matches!(first, "block" | "inline") && second.is_some_and(is_inside);
        if words.next().is_some() || second.is_some() && !is_pair {
            return;
        }
        let (is_block, parts) = match first {
            // No part of a column is ever shown.
            "table-column" | "table-column-group" => return self.declare(DISPLAY, true),
            "none" | "inline" | "inline-block" | "inline-table" | "-webkit-inline-box" | "contents"
            | "ruby" | "ruby-text" | "math" | "flow" => (false, false),
            _ if is_of_all(first) => (false, false),
            "block" | "flow-root" | "list-item" | "table" | "-webkit-box" => (true, false),
            "flex" | "grid" | "-webkit-flex" => (true, true),
            "inline-flex" | "inline-grid" | "-webkit-inline-flex" => (false, true),
            "table-row" | "table-cell" | "table-caption" | "table-row-group" | "table-header-group"
            | "table-footer-group" => (true, false),
            _ => return,
        };
        self.declare(DISPLAY, first == "none");
        self.declare(BLOCK, is_block);
        self.declare(PARTS, parts);
    }

    /// The same without the layout.
    pub(super) fn without_layout(self) -> Self {
        Self { declared: self.declared & !(BLOCK | PARTS), hiding: self.hiding & !(BLOCK | PARTS), ..self }
    }

    /// The same for an element in a line, or for a cell, which grows with its content: boxes have no effect there.
    pub(crate) fn without_box(self, is_cell: bool) -> Self {
        let is_in_line = self.declared & (DISPLAY | FLOAT) == 0 && !self.hides(POSITION);
        let without = if is_cell {
            SIZES
        } else if is_in_line {
            SIZES | MOVES | INDENT | PUSHED | CONTENT
        } else {
            0
        };
        Self { hiding: self.hiding & !without, ..self }
    }

    /// Returns true if the element has no width or no height.
    pub(crate) fn is_without_room(&self) -> bool {
        self.hides(SIZES)
    }

    /// Returns true if the element takes part in the layout, although nobody sees it.
    pub(crate) fn keeps_place(&self) -> bool {
        !self.hides(DISPLAY) && !self.hides(POSITION)
    }

    /// Returns true if people see the element, whatever is around it; none if that decides.
    pub(crate) fn visibility(&self) -> Option<bool> {
        (self.declared & VISIBILITY != 0).then(|| !self.hides(VISIBILITY))
    }

    /// Returns true if elements in this one are seen if they say so.
    pub(crate) fn is_only_invisible(&self) -> bool {
        let others = Self { hiding: self.hiding & !VISIBILITY, ..*self };
        self.hides(VISIBILITY) && others.sight() == Sight::Shown
    }

    /// Returns true if the element is a block, whatever it is of itself.
    pub(crate) fn is_block(&self) -> bool {
        self.hides(BLOCK)
    }

    /// Returns true if each child of the element is a block.
    pub(crate) fn parts_children(&self) -> bool {
        self.hides(PARTS)
    }

    fn hides(&self, property: u64) -> bool {
        self.hiding & property != 0
    }

    /// The part of the element that people see, by all but colors and the size of letters.
    pub(crate) fn sight(&self) -> Sight {
        // Most elements.
        if self.hiding == 0 {
            return Sight::Shown;
        }
        let is_animated = self.hides(ANIMATION);
        if self.hides(DISPLAY | CONTENT | VISIBILITY) || self.hides(OPACITY | FILTER) && !is_animated {
            return Sight::Hidden;
        }
        let is_off_page =
            self.hides(POSITION | RELATIVE) && self.hides(SIDES) || self.hides(FIXED) && self.hides(BELOW);
        // In one direction, an item of a flex box grows.
        let is_item = self.hides(GROWS) && matches!(self.hiding & SIZES, WIDTH | HEIGHT);
        let has_room = self.hides(ROOM) || is_item;
        let is_cut = self.hides(OVERFLOW) && !has_room && self.hides(SIZES) && !is_animated;
        let is_clipped = self.hides(POSITION) && self.hides(CLIP) || self.hides(CLIP_PATH);
        // Behind the edge of the element, all in one line.
        let is_pushed = self.hides(PUSHED) && self.hides(OVERFLOW) && self.hides(NOWRAP);
        if is_off_page || is_cut || is_clipped || is_pushed {
            return Sight::Clipped;
        }
        let is_moved = self.hides(MOVES) && !is_animated;
        // From the middle of the page, or in a row of floats, half a page back is still on the page.
        let others = if self.hides(OUTSIDE) { PADDED_OUTSIDE } else { PLACED | FLOAT | PADDED };
        let is_beside = self.hides(MARGIN_TOP) || self.hides(MARGIN_LEFT) && !self.hides(others);
        if self.hides(INDENT | SPACING) || is_beside || is_moved { Sight::Hidden } else { Sight::Shown }
    }

    /// The properties that are declared.
    pub(super) fn declared(&self) -> Properties {
        let has_background = self.background.is_some() || self.declared & IMAGE != 0;
        Properties { color: self.letters().is_some(), background: has_background, others: self.declared }
    }

    /// Those whose declarations may show text.
    pub(super) fn shown(&self) -> Properties {
        let font = if self.hides(AS_AROUND) { AS_AROUND } else { self.declared & !self.hiding & FONT };
        Properties { others: self.declared & !self.hiding & OF_SIGHT | font, ..self.declared() }
    }

    /// The same where others may be declared by rules that count at times.
    pub(super) fn with_shown(mut self, shown: Properties) -> Self {
        if shown.color {
            self.color = Some(Color::Unknown);
            self.fill = None;
        }
        if shown.background {
            self.background = Some(Color::Unknown);
        }
        if shown.others & AS_AROUND != 0 && self.hides(FONT) {
            self.hiding = self.hiding & !FONT | AS_AROUND;
        }
        let others = shown.others & !AS_AROUND;
        self.hiding &= !(others | if others & FONT == 0 { 0 } else { AS_AROUND });
        self.declared |= others & FONT;
        self
    }

    /// The same for an element that a script lets appear where it stands: the main part, or one that only fades in.
    pub(crate) fn after_fade(self, is_main: bool) -> Self {
        let shown = if is_main { OPACITY | FILTER | VISIBILITY } else { OPACITY | FILTER };
        Self { hiding: self.hiding & !shown, ..self }
    }

    /// The color of letters, if it is not that around.
    pub(crate) fn letters(&self) -> Option<Color> {
        match self.fill {
            Some(Fill::Own(color)) => Some(color),
            Some(Fill::AsColor) | None => self.color,
        }
    }

    /// The size of letters, if it is not that around.
    pub(crate) fn font(&self) -> Option<FontSize> {
        let size = if self.hides(FONT) { FontSize::Zero } else { FontSize::Some };
        (self.declared & FONT != 0 && !self.hides(AS_AROUND)).then_some(size)
    }

    /// Returns true if the letters have a background, an outline or a shadow of their own.
    pub(crate) fn has_background_in_text(&self) -> bool {
        self.hides(TEXT_BACKGROUND | SHADOW)
    }
}

/// The size in a value of `font`; empty if the value has none.
fn size_of_font(value: &str) -> &str {
    if is_of_all(value) {
        return value;
    }
    let mut parts = value.split(' ').map(|word| word.split('/').next().unwrap_or(word));
    let is_size = |word: &&str| are_lengths(word, (&SIZES_OF_LETTERS, 1));
    parts.find(is_size).filter(|_| parts.next().is_some()).unwrap_or_default()
}
