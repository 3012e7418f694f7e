//! The first line of a document: the heading that people read above the page, or the title that the page gives itself.

use super::Walk;
use crate::head::Head;
use crate::html::{NodeId, Tag};

/// The bytes of text that stand before the heading which is the title at most.
const MOST_BEFORE_TITLE: u32 = 200;

/// A heading that may be the title.
#[derive(Debug)]
struct Candidate<'h> {
    id: NodeId,
    is_first_level: bool,
    is_in_content: bool,
    text: &'h str,
    /// Its letters and digits.
    words: String,
}

impl Walk<'_> {
    /// Writes the title, and gives the element of the content that says the same.
    pub(super) fn title(&mut self, head: &Head) -> Option<NodeId> {
        let title = head.title.as_deref()?;
        let candidates: Vec<Candidate<'_>> =
            head.headings.iter().filter_map(|(id, text)| self.candidate(*id, text)).collect();
        let (wanted, element) = (words(title), words(head.element.as_deref().unwrap_or_default()));
        let is_title = |one: &&Candidate<'_>| {
            let begins = element.starts_with(&one.words);
            one.is_first_level && (wanted.contains(&one.words) || one.words.contains(&wanted))
                || !one.is_in_content && begins && (element == wanted || one.words.len() > wanted.len())
        };
        let is_of_page = |one: &&Candidate<'_>| {
            one.is_in_content || element.starts_with(&one.words) || !self.is_beside(one.id)
        };
        // The name of the site is shorter than the title, of which it may be a part.
        let best = candidates.iter().filter(is_title).filter(is_of_page);
        let said = best.max_by_key(|one| (one.is_in_content, one.words.len()));
        match said {
            Some(one) => self.write_title(one.text, Some(one).filter(|one| one.is_first_level)),
            None => {
                let is_of_site =
                    candidates.iter().any(|one| one.words == wanted) && element.len() > wanted.len();
                self.write_title(head.element.as_deref().filter(|_| is_of_site).unwrap_or(title), None);
            }
        }
        // Another one that people read above the content; not the name of the site.
        let is_headline = |one: &&Candidate<'_>| {
            let is_above = one.is_first_level && one.id < self.content.root;
            is_above && !element.contains(&one.words) && !self.is_beside(one.id)
        };
        let has_own = candidates.iter().any(|one| one.is_first_level && one.is_in_content);
        if said.is_none()
            && !has_own
            && let Some(one) = candidates.iter().find(is_headline)
        {
            self.write_title(one.text, Some(one));
        }
        said.filter(|one| one.is_in_content).map(|one| one.id)
    }

    fn candidate<'h>(&self, id: NodeId, text: &'h str) -> Option<Candidate<'h>> {
        let is_first_level = self.tree.node(id).tag == Tag::H1;
        let is_in_content = self.tree.node(self.content.root).end > id
            && id > self.content.root
            && !self.content.has_left_out(self.tree, id);
        // Below other text, it stays where it is.
        if is_in_content && (!is_first_level || self.text_before(id) > MOST_BEFORE_TITLE) {
            return None;
        }
        let words = words(text);
        (!words.is_empty()).then_some(Candidate { id, is_first_level, is_in_content, text, words })
    }

    /// Returns true if a heading stands in a link or in a part that leads elsewhere.
    fn is_beside(&self, id: NodeId) -> bool {
        let mut around = self.tree.around(id).map(|(_, node)| node.tag);
        let is_link = self.tree.inside(id).any(|(_, node)| node.tag == Tag::A);
        is_link || around.any(|tag| matches!(tag, Tag::A | Tag::Nav | Tag::Footer | Tag::Aside | Tag::Dialog))
    }

    /// Writes a title, which may be a heading of the page.
    fn write_title(&mut self, text: &str, heading: Option<&Candidate<'_>>) {
        let from = self.line.begin_capture();
        self.line.push(text);
        let markdown = self.line.take();
        let text = self.line.end_capture(from);
        match heading {
            Some(heading) => {
                let id = self.id_of(heading.id, self.tree.node(heading.id));
                self.add_heading(1, &markdown, text, id);
            }
            None => self.blocks.heading(1, &markdown),
        }
    }

    /// The bytes of the content before a place.
    fn text_before(&self, id: NodeId) -> u32 {
        let before = self.tree.inside(self.content.root).take_while(|(other, _)| *other < id);
        before
            .filter(|(id, node)| node.tag == Tag::Text && !self.content.has_left_out(self.tree, *id))
            .map(|(_, node)| node.text_length())
            .sum()
    }
}

fn words(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
