//! The count of requests, and the page that shows it.

use crawlpike_core::metrics::{Counters, Event, Series};

use crate::counters::with_counters;
use crate::gate;
use crate::module::Request;
use crate::nginx::{Answered, LogLevel};

const NOT_FOUND: u16 = 404;
const METHOD_NOT_ALLOWED: u16 = 405;

/// Counts a request that has ended, with its last decision.
pub(crate) fn on_log(request: &Request<'_>) {
    if let Some((state, decision)) = gate::counted_decision(request)
        && let Some(series) = Series::of(&decision)
    {
        let ruleset = &state.ruleset;
        with_counters(request.main_thread(), |counters| {
            counters.count_request(series, ruleset, &ruleset.recent);
            for event in Event::of(&decision) {
                if counters.add(event, 1)
                    && let Some(advice) = event.advice()
                {
                    request.main_thread().log(LogLevel::WARN, &format!("crawlpike: {advice}"));
                }
            }
        });
    }
}

/// Answers a request for a location with `crawlpike_status`.
pub(crate) fn on_content(mut request: Request<'_>) -> Answered {
    if !matches!(request.method(), b"GET" | b"HEAD") {
        // If there is no memory for the header, the status says enough.
        let _ = request.replace_response_header("Allow", ["GET, HEAD"].iter());
        return request.finish_with_status(METHOD_NOT_ALLOWED);
    }
    let (main_thread, accept) = (request.main_thread(), gate::joined_header(&request, "accept"));
    let ruleset = request.main_conf().and_then(|main| main.ruleset.get());
    let reply = ruleset.and_then(|ruleset| {
        let page =
            |counters: &Counters| counters.page(&ruleset, ruleset.since, main_thread.now()).reply(accept);
        with_counters(main_thread, page)
    });
    match reply {
        Some(reply) => gate::send(request, &reply),
        // Without `crawlpike_config` there are no counters, but no location can have the directive either.
        None => request.finish_with_status(NOT_FOUND),
    }
}
