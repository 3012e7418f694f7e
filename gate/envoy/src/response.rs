//! The response on its way back: the core's plan for its headers.
//!
//! Most responses have none of the headers on which the plan depends. The gate reads all headers only if there is one.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crawlpike_core::{Decision, Ruleset};

use crate::stream::{Change, ChangedHeaders, HeaderLines, Stream};

/// Changes the headers of a response as the plan says.
///
/// # Errors
///
/// Envoy refuses a call.
pub fn on_response<S: Stream>(
    stream: &mut S,
    ruleset: &Ruleset,
    decision: &Decision,
) -> Result<(), S::Error> {
    let Some(plan) = ruleset.response_plan(decision) else { return Ok(()) };
    let is_needed = match plan.watched() {
        Some(watched) => stream.response_has_any(watched)?,
        None => true,
    };
    if !is_needed && plan.only_mends() {
        return Ok(());
    }
    let (edits, removed) = if is_needed {
        let response = stream.lines(ChangedHeaders::Response)?;
        let removed = response.lines().map(|(name, _)| name).filter(|name| plan.removes(name));
        let removed: Vec<Vec<u8>> = removed.map(<[u8]>::to_vec).collect();
        (plan.header_edits(response.lines()), removed)
    } else {
        (plan.header_edits([].into_iter()), Vec::new())
    };
    for (header, lines) in edits.replaced() {
        replace_lines(stream, header.lowercase, lines)?;
    }
    removed.iter().try_for_each(|name| stream.change(ChangedHeaders::Response, name, Change::Remove))
}

/// Replaces all lines of a header of the response by these.
pub(crate) fn replace_lines<S: Stream>(
    stream: &mut S,
    name: &str,
    lines: &[Box<[u8]>],
) -> Result<(), S::Error> {
    let mut change = |change| stream.change(ChangedHeaders::Response, name.as_bytes(), change);
    let Some((first, others)) = lines.split_first() else { return change(Change::Remove) };
    change(Change::Replace(first))?;
    others.iter().try_for_each(|line| change(Change::Add(line)))
}
