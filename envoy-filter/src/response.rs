//! The response on its way back: the core's plan for its headers.
//!
//! Asking for one header gives its first line only. So the filter asks for each header on which the plan depends, and most
//! responses have none of them; only where there is one it fetches all headers.

use crawlward_core::{Decision, Ruleset};
use proxy_wasm::types::MapType;

use crate::headers::HeaderMap;
use crate::host::Refused;
use crate::raw::{self, Change};

const MAP: MapType = MapType::HttpResponseHeaders;

/// Makes the headers of a response what they should be.
pub(crate) fn edit(ruleset: &Ruleset, decision: &Decision) -> Result<(), Refused> {
    let Some(plan) = ruleset.response_plan(decision) else { return Ok(()) };
    let is_there = |name| Ok(raw::header(MAP, name)?.is_some());
    let is_needed = match plan.watched() {
        Some(watched) => any(watched.iter().map(|header| is_there(header.lowercase)))?,
        None => true,
    };
    let response = if is_needed { Some(raw::all_headers(MAP)?) } else { None };
    let edits = plan.header_edits(response.iter().flat_map(HeaderMap::lines));
    for (header, lines) in edits.replaced() {
        let change = |change| raw::change_header(MAP, header.lowercase.as_bytes(), change);
        let Some((first, others)) = lines.split_first() else {
            change(Change::Remove)?;
            continue;
        };
        change(Change::Replace(first))?;
        for line in others {
            change(Change::Add(line))?;
        }
    }
    let mut removed = response.iter().flat_map(HeaderMap::lines).filter(|(name, _)| plan.removes(name));
    removed.try_for_each(|(name, _)| raw::change_header(MAP, name, Change::Remove))
}

fn any(mut results: impl Iterator<Item = Result<bool, Refused>>) -> Result<bool, Refused> {
    results.find(|result| !matches!(result, Ok(false))).unwrap_or(Ok(false))
}
