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

/// The numbers of the items of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) next: u32,
    pub(super) is_reversed: bool,
}

impl Numbers {
    fn go_on(&mut self) {
        self.next = if self.is_reversed { self.next.saturating_sub(1) } else { self.next.saturating_add(1) };
    }

    fn go_back(&mut self) {
        self.next = if self.is_reversed { self.next.saturating_add(1) } else { self.next.saturating_sub(1) };
    }
}

/// A list whose items are being written.
#[derive(Clone, Copy, Debug)]
struct List {
    /// The numbers, if items have them.
    numbers: Option<Numbers>,
    has_items: bool,
    /// It has other marks than usual, since it follows a list of its sort.
    has_other_marks: bool,
}

/// The markdown as it is written.
#[derive(Debug)]
pub(super) struct Blocks {
    out: String,
    containers: Vec<Container>,
    /// The lists and containers that are nested too deep to be shown.
    lists: Vec<List>,
    /// The list that has just ended, and the number of containers around.
    ended: Option<(usize, List)>,
    gap: Gap,
    /// The last line is that of an item.
    is_after_item: bool,
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
            ended: None,
            gap: Gap::None,
            is_after_item: false,
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

    pub(super) fn begin_list(&mut self, numbers: Option<Numbers>) {
        let depth = self.containers.len();
        let before =
            self.ended.filter(|(at, list)| *at == depth && list.numbers.is_some() == numbers.is_some());
        let has_other_marks = before.is_some_and(|(_, list)| !list.has_other_marks);
        self.lists.push(List { numbers, has_items: false, has_other_marks });
    }

    pub(super) fn end_list(&mut self) {
        if let Some(list) = self.lists.pop().filter(|list| list.has_items) {
            self.gap = Gap::BlankLine;
            self.ended = Some((self.containers.len(), list));
        }
    }

    /// Begins an item, with this number if it has one of its own.
    pub(super) fn begin_item(&mut self, number: Option<u32>) {
        let is_nested =
            self.containers.last().is_some_and(|container| container.is_item && container.has_lines);
        let mut marker = "- ".to_owned();
        if let Some(list) = self.lists.last_mut() {
            if let Some(numbers) = &mut list.numbers {
                numbers.next = number.unwrap_or(numbers.next);
                let mark = if list.has_other_marks { ')' } else { '.' };
                marker = format!("{}{mark} ", numbers.next);
                numbers.go_on();
            } else if list.has_other_marks {
                "* ".clone_into(&mut marker);
            }
            // A paragraph goes on into a line that begins with another number than 1.
            let may_follow = list.numbers.is_none_or(|numbers| numbers.next == 2 && !numbers.is_reversed);
            if (list.has_items && self.is_after_item || is_nested && may_follow) && self.gap == Gap::BlankLine
            {
                self.gap = Gap::Line;
            }
        }
        let rest = " ".repeat(marker.len());
        self.begin(Container { first: Some(marker), rest, has_lines: false, is_item: true });
    }

    /// Begins to write below the last item of a list; false if there is none.
    pub(super) fn go_on_with_item(&mut self) -> bool {
        let Some(list) = self.lists.last().copied().filter(|list| list.has_items) else { return false };
        let number = list.numbers.map(|mut numbers| {
            numbers.go_back();
            numbers.next.to_string().len() + 2
        });
        let rest = " ".repeat(number.unwrap_or(2));
        self.gap = Gap::Line;
        self.begin(Container { first: None, rest, has_lines: true, is_item: true });
        true
    }

    pub(super) fn end_item(&mut self) {
        let has_lines = self.containers.pop().is_some_and(|container| container.has_lines);
        if let Some(list) = self.lists.last_mut() {
            list.has_items |= has_lines;
        }
        self.is_after_item |= has_lines;
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
        self.ended = None;
        self.is_after_item = false;
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
