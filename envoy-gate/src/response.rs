//! The response on its way back: the core's plan for its headers.
//!
//! Asking for one header gives its first line only. So the gate asks for each header on which the plan depends, and most
//! responses have none of them; only where there is one it reads all headers.

use alloc::vec::Vec;

use crawlward_core::{Decision, Ruleset};

use crate::stream::{Change, ChangedHeaders, HeaderLines, Stream};

/// Makes the headers of a response what they should be.
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
        Some(watched) => any(watched.iter().map(|header| stream.response_has(header.lowercase)))?,
        None => true,
    };
    let (edits, removed) = if is_needed {
        let response = stream.response_lines()?;
        let removed = response.lines().map(|(name, _)| name).filter(|name| plan.removes(name));
        let removed: Vec<Vec<u8>> = removed.map(<[u8]>::to_vec).collect();
        (plan.header_edits(response.lines()), removed)
    } else {
        (plan.header_edits([].into_iter()), Vec::new())
    };
    let mut change = |name: &[u8], change: Change<'_>| stream.change(ChangedHeaders::Response, name, change);
    for (header, lines) in edits.replaced() {
        let name = header.lowercase.as_bytes();
        let Some((first, others)) = lines.split_first() else {
            change(name, Change::Remove)?;
            continue;
        };
        change(name, Change::Replace(first))?;
        for line in others {
            change(name, Change::Add(line))?;
        }
    }
    removed.iter().try_for_each(|name| change(name, Change::Remove))
}

fn any<E>(mut results: impl Iterator<Item = Result<bool, E>>) -> Result<bool, E> {
    results.find(|result| !matches!(result, Ok(false))).unwrap_or(Ok(false))
}
