//! The end of elements: by their end tags, and by what follows them.

use super::super::rules::{self, Scope};
use super::super::token::TagName;
use super::super::tree::Flags;
use super::super::{NodeId, Tag};
use super::{Builder, number};

impl Builder<'_> {
    /// Takes an end tag.
    pub(in super::super) fn end(&mut self, name: TagName) {
        let tag = name.tag;
        if matches!(tag, Tag::Html | Tag::Body | Tag::Head) {
            self.is_in_head &= tag != Tag::Head;
            return;
        }
        if tag == Tag::Br {
            self.start(name, Flags::NONE, &[], false);
            return;
        }
        if let Some(owed) = self.owed.get_mut(name.bucket()).filter(|owed| **owed > 0) {
            *owed -= 1;
            return;
        }
        let is_heading = tag.heading_level().is_some();
        if self.count(name) == 0 && !is_heading {
            return;
        }
        if tag.parts_words() {
            self.is_after_blank = true;
        }
        let scope = rules::scope_of_end(tag);
        let stops_at_special = rules::stops_at_special(tag);
        let mut has_special = false;
        for (at, open) in self.open.iter().enumerate().rev() {
            if open.name == name || is_heading && open.name.tag.heading_level().is_some() {
                match tag {
                    // The element around goes on as one without a meaning: what it holds stays where it is.
                    Tag::Form if has_special => self.neutralise(at),
                    Tag::A => self.close_early(at),
                    _ if has_special && tag.is_formatting() => self.neutralise(at),
                    _ => self.close_to(at),
                }
                return;
            }
            if scope.ends_at(open.name.tag) || stops_at_special && open.name.tag.is_special() {
                return;
            }
            has_special |= open.name.tag.is_special();
        }
    }

    /// Makes an open element one without a meaning, which no end tag closes.
    fn neutralise(&mut self, at: usize) {
        const NAMELESS: TagName = TagName { tag: Tag::Other, hash: u32::MAX };
        let Some(open) = self.open.get_mut(at) else { return };
        let was = std::mem::replace(&mut open.name, NAMELESS);
        let node = open.node;
        self.uncount(was);
        if let Some(count) = self.counts.get_mut(NAMELESS.bucket()) {
            *count += 1;
        }
        if let Some(node) = node.and_then(|node| self.nodes.get_mut(node.index())) {
            node.tag = if was.tag.is_formatting() { Tag::Span } else { Tag::Div };
        }
    }

    fn uncount(&mut self, name: TagName) {
        if let Some(count) = self.counts.get_mut(name.bucket()) {
            *count = count.saturating_sub(1);
        }
    }

    /// Closes an element although blocks in it are open; their end tags will come.
    fn close_early(&mut self, at: usize) {
        for index in at + 1..self.open.len() {
            if let Some(open) = self.open.get(index).copied().filter(|open| open.name.tag.is_special()) {
                self.owe(open.name);
            }
        }
        self.close_to(at);
    }

    /// Closes the outermost of some open elements that a scope shows.
    pub(super) fn close_outermost(&mut self, scope: Scope, is_it: fn(Tag) -> bool) {
        let mut found = None;
        for (at, open) in self.open.iter().enumerate().rev() {
            if is_it(open.name.tag) {
                found = Some(at);
            }
            if scope.ends_at(open.name.tag) {
                break;
            }
        }
        if let Some(at) = found {
            self.close_to(at);
        }
    }

    /// Closes the open item of a list that a new item follows.
    pub(super) fn close_item(&mut self, is_it: fn(Tag) -> bool) {
        for (at, open) in self.open.iter().enumerate().rev() {
            let tag = open.name.tag;
            if is_it(tag) {
                self.close_to(at);
                return;
            }
            if tag.is_special() && !matches!(tag, Tag::Address | Tag::Div | Tag::P) {
                return;
            }
        }
    }

    /// Closes all open elements from this one on.
    pub(super) fn close_to(&mut self, at: usize) {
        let end = NodeId(number(self.nodes.len()));
        for index in (at..self.open.len()).rev() {
            let Some(open) = self.open.get(index).copied() else { continue };
            self.uncount(open.name);
            if let Some(node) = open.node.and_then(|node| self.nodes.get_mut(node.index())) {
                node.end = end;
            }
        }
        self.open.truncate(at);
    }
}
