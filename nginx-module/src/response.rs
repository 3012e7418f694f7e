//! From nginx's response to the core's plans, and back.

use crawlpike_core::ResponsePlan;

use crate::documents::{self, PageBody};
use crate::gate;
use crate::module::Request;

/// Makes the headers of a response what they should be. Returns what is to collect its body if that becomes a document.
pub(crate) fn on_response(request: &mut Request<'_>) -> Option<PageBody> {
    let (state, decision) = gate::response_decision(request)?;
    if let Some(plan) = state.ruleset.response_plan(&decision).filter(|plan| may_change(request, *plan)) {
        let edits = plan.header_edits(request.response_headers());
        for (name, lines) in edits.replaced() {
            // If there is no memory for that, some lines are missing or twice there. There is nothing better to do.
            let _ = request.replace_response_header(name.sent, lines.iter());
        }
        // Only such a plan removes headers.
        if plan.watched().is_none() {
            request.remove_response_headers(|name| plan.removes(name));
        }
    }
    documents::on_response(request, state, &decision)
}

/// Returns false if the response certainly stays as it is, as most do.
fn may_change(request: &Request<'_>, plan: ResponsePlan<'_>) -> bool {
    !plan.only_mends() || request.response_headers().any(|(name, _)| plan.watches(name))
}
