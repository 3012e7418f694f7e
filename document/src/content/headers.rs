//! Headers in the text: the lead below the heading of the page, and the headings of sections.

use super::measure::Measures;
use super::{evidence, is_in, leads, outermost_of};
use crate::html::{NodeId, Tag, Tree};

/// Takes headers with parts of the content out of the elements that are left out, and puts in what else these headers have.
/// The elements are in document order, before and after.
pub(super) fn keep(tree: &Tree, measures: &Measures, left_out: &mut Vec<NodeId>) {
    let is_header = |id: &NodeId| tree.node(*id).tag == Tag::Header;
    let headers: Vec<NodeId> = outermost_of(tree, left_out.iter().copied()).filter(is_header).collect();
    if headers.is_empty() {
        return;
    }
    let is_heading = |tag: Tag| tag.heading_level().is_some();
    let headings: Vec<NodeId> =
        tree.nodes().filter(|(_, node)| is_heading(node.tag)).map(|(id, _)| id).collect();
    let last_of_page = headings.iter().rfind(|id| tree.node(**id).tag == Tag::H1).copied();
    let (mut kept, mut others) = (Vec::new(), Vec::new());
    for header in headers {
        let inside = |id: NodeId| {
            let before = |end: NodeId| headings.partition_point(|heading| *heading < end);
            headings.get(before(id)..before(tree.node(id).end)).unwrap_or_default()
        };
        let own = inside(header);
        let of_page = own.iter().find(|id| tree.node(**id).tag == Tag::H1).copied();
        if of_page.is_some() {
            // A heading after it is that of the page; this one is that of the site.
            let is_last = last_of_page.is_some_and(|last| own.contains(&last));
            if is_last
                && (leads::has_sentences(measures, header, of_page)
                    || evidence::has(tree, header, Tag::Figure))
            {
                kept.push(header);
                others.extend(leads::around_sentences(tree, measures, header));
            }
        } else if !own.is_empty() && is_of_section(tree, measures, header, own) {
            kept.push(header);
            let sentences = tree.inside(header).filter(|(id, node)| {
                node.tag == Tag::Figure || node.tag == Tag::P && leads::is_sentence(tree, *id)
            });
            let mut parts: Vec<NodeId> = own.iter().copied().chain(sentences.map(|(id, _)| id)).collect();
            parts.sort_unstable();
            let has_part = |id: NodeId| {
                let next = parts.get(parts.partition_point(|part| *part < id));
                next.is_some_and(|part| *part < tree.node(id).end)
            };
            let beside = tree.inside(header).skip(1).map(|(id, _)| id);
            let beside = beside.filter(|id| !has_part(*id) && !is_in(tree, &parts, *id));
            others.extend(outermost_of(tree, beside));
        }
    }
    left_out.retain(|id| kept.binary_search(id).is_err());
    left_out.extend(others);
    left_out.sort_unstable();
}

/// Returns true if the section that a header stands in has other text: right beside it, or beside a block that holds only the
/// header with its headings.
fn is_of_section(tree: &Tree, measures: &Measures, header: NodeId, headings: &[NodeId]) -> bool {
    let measure = measures.get(header);
    let has_more = |id| measures.get(id).plain() > measure.plain();
    let parent = tree.node(header).parent;
    let is_alone = || {
        let text = headings.iter().map(|id| measures.get(*id).text).sum::<u32>();
        tree.node(parent).tag == Tag::Div && measures.get(parent).text == text
    };
    has_more(parent) || is_alone() && has_more(tree.node(parent).parent)
}
