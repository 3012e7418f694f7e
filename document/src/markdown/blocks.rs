//! Blocks under each other: paragraphs, and the lists and quotes that they are in.

use super::escape;

/// The depth to which lists and quotes nest in the markdown; each level costs bytes in every line.
const DEEPEST: usize = 10;

/// The bytes of a block that is longer than nearly all.
const LONG: usize = 16 << 10;

/// The separation of a block from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    None,
    Line,
    BlankLine,
}

/// A list item or a quote.
#[derive(Debug)]
struct Container {
    /// The start of its first line, until that is written.
    first: Option<String>,
    /// The start of its other lines.
    rest: String,
    has_lines: bool,
    is_item: bool,
}

/// A list whose items are being written.
#[derive(Debug)]
struct List {
    /// The number of the next item, if items have numbers.
    next: Option<u32>,
    has_items: bool,
}

/// The markdown as it is written.
#[derive(Debug)]
pub(super) struct Blocks {
    out: String,
    containers: Vec<Container>,
    /// The lists and containers that are nested too deep to be shown.
    lists: Vec<List>,
    gap: Gap,
    /// The bytes that may still be written.
    room: usize,
    pub(super) is_cut: bool,
}

impl Blocks {
    pub(super) fn new(room: usize) -> Self {
        Self {
            out: String::new(),
            containers: Vec::new(),
            lists: Vec::new(),
            gap: Gap::None,
            room,
            is_cut: false,
        }
    }

    /// The bytes that are written.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// The bytes that may still be written.
    pub(super) fn room(&self) -> usize {
        self.room
    }

    /// Takes bytes from what may still be written; false if there are not as many.
    pub(super) fn take_room(&mut self, bytes: usize) -> bool {
        match self.room.checked_sub(bytes) {
            Some(room) => self.room = room,
            None => self.is_cut = true,
        }
        !self.is_cut
    }

    pub(super) fn begin_list(&mut self, first_number: Option<u32>) {
        self.lists.push(List { next: first_number, has_items: false });
    }

    pub(super) fn end_list(&mut self) {
        if self.lists.pop().is_some_and(|list| list.has_items) {
            self.gap = Gap::BlankLine;
        }
    }

    pub(super) fn begin_item(&mut self) {
        let is_nested =
            self.containers.last().is_some_and(|container| container.is_item && container.has_lines);
        let marker = match self.lists.last_mut() {
            Some(list) => {
                let number = list.next.map(|number| format!("{number}. "));
                list.next = list.next.map(|number| number.saturating_add(1));
                if (list.has_items || is_nested) && self.gap == Gap::BlankLine {
                    self.gap = Gap::Line;
                }
                number
            }
            None => None,
        };
        let marker = marker.unwrap_or_else(|| "- ".to_owned());
        let rest = " ".repeat(marker.len());
        self.begin(Container { first: Some(marker), rest, has_lines: false, is_item: true });
    }

    pub(super) fn end_item(&mut self) {
        let has_lines = self.containers.pop().is_some_and(|container| container.has_lines);
        if let Some(list) = self.lists.last_mut() {
            list.has_items |= has_lines;
            // A number goes to an item that has text.
            if !has_lines {
                list.next = list.next.map(|number| number.saturating_sub(1));
            }
        }
    }

    pub(super) fn begin_quote(&mut self) {
        self.begin(Container { first: None, rest: "> ".to_owned(), has_lines: false, is_item: false });
    }

    pub(super) fn end_quote(&mut self) {
        self.containers.pop();
        self.gap = Gap::BlankLine;
    }

    fn begin(&mut self, mut container: Container) {
        if self.containers.len() >= DEEPEST {
            container.first = None;
            container.rest.clear();
        }
        self.containers.push(container);
    }

    /// Writes a block of flowing text, if it has some.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.block("", text, true);
    }

    /// Writes a heading, if it has text.
    pub(super) fn heading(&mut self, level: u8, text: &str) {
        let hashes = "#".repeat(usize::from(level));
        let text = text.replace("\\\n", " ");
        // A run of hashes at the end would close the heading.
        let end = text.trim_end_matches('#').len();
        match text.get(..end) {
            Some(start) if end < text.len() && (start.is_empty() || start.ends_with(' ')) => {
                let closing = text.get(end..).unwrap_or_default();
                self.block(&format!("{hashes} "), &format!("{start}\\{closing}"), false);
            }
            _ => self.block(&format!("{hashes} "), &text, false),
        }
    }

    /// Writes lines as they are.
    pub(super) fn verbatim(&mut self, lines: &str) {
        self.block("", lines, false);
    }

    fn block(&mut self, start: &str, text: &str, is_flowing: bool) {
        if text.is_empty() {
            return;
        }
        let prefixes: usize = self.containers.iter().map(|container| container.rest.len()).sum();
        // Flowing text ends where there is no more room. Lines that belong together are written whole or not at all.
        let whole = if is_flowing { text.find('\n').unwrap_or(text.len()) } else { text.len() };
        let lines_of = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count() + 2;
        let lines = lines_of(text.get(..whole).unwrap_or_default());
        let room = self.room;
        if !self.take_room(start.len() + whole + lines * (prefixes + 2)) {
            return;
        }
        if text.len() > LONG {
            // It may be as long as the page: what is written grows once for it, and not by doubling.
            self.out.reserve(room.min(start.len() + text.len() + lines_of(text) * (prefixes + 2)));
        }
        if self.gap != Gap::None {
            self.out.push('\n');
        }
        if self.gap == Gap::BlankLine {
            let before = self.out.len();
            for container in self.containers.iter().filter(|container| container.has_lines) {
                self.out.push_str(&container.rest);
            }
            let end = self.out.trim_end_matches(' ').len();
            self.out.truncate(end.max(before));
            self.out.push('\n');
        }
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                if is_flowing && !self.take_room(line.len() + prefixes + 2) {
                    // Without the mark of a line break, which nothing follows.
                    let end = self.out.strip_suffix('\\').map_or(self.out.len(), str::len);
                    self.out.truncate(end);
                    break;
                }
                self.out.push('\n');
            }
            let before = self.out.len();
            for container in &mut self.containers {
                container.has_lines = true;
                match container.first.take() {
                    Some(first) => self.out.push_str(&first),
                    None => self.out.push_str(&container.rest),
                }
            }
            if number == 0 {
                self.out.push_str(start);
            }
            if is_flowing {
                escape::line_start(line, &mut self.out);
            } else {
                self.out.push_str(line);
            }
            if line.is_empty() {
                let end = self.out.trim_end_matches(' ').len();
                self.out.truncate(end.max(before));
            }
        }
        self.gap = Gap::BlankLine;
    }

    /// All that was written.
    pub(super) fn finish(mut self) -> String {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }
}
