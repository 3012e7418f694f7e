//! What is counted of requests, and the page that shows it.

use crawlward_core::measures::Series;

use crate::directives::MainConf;
use crate::gate;
use crate::nginx::{HttpRequest, with_counters};

/// Counts a request that is over: once, with what was decided when it last came to the access phase. What never came
/// there was not decided: what `rewrite` answers, and what nginx refused.
pub(crate) fn on_log(request: HttpRequest<'_>) {
    // With `log_subrequest` nginx logs those, too.
    let state = request.state().filter(|_| request.is_main());
    if let Some((loaded, decision)) = state.and_then(gate::State::judged)
        && let Some(series) = Series::of(&decision)
    {
        with_counters(|counters| counters.count_request(series, loaded, &loaded.recent));
    }
}

/// `crawlward_status;` answers a request; the status for nginx comes back.
pub(crate) fn on_status(request: HttpRequest<'_>) -> isize {
    if !matches!(request.method(), b"GET" | b"HEAD") {
        return request.refuse_method("GET, HEAD");
    }
    let loaded = request.main_conf().and_then(MainConf::ruleset);
    let accept = request.joined_header("accept");
    let reply = loaded.as_ref().and_then(|loaded| {
        with_counters(|counters| counters.page(loaded, loaded.since, HttpRequest::now()).reply(accept))
    });
    // Without counters there is no `crawlward_config`, without which a location can't have the directive.
    reply.map_or_else(|| request.not_found(), |reply| request.respond(&reply))
}
