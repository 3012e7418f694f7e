//! From nginx's response to the core's plan, and back.

use crate::gate;
use crate::module::Request;

/// Makes the headers of a response what they should be.
pub(crate) fn on_response(request: &mut Request<'_>) {
    let Some(plan) = gate::response_plan(request) else { return };
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
