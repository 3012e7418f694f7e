//! The directives.

use crawlpike_core::metrics::{Event, ReloadResult};

use crate::conf::MainConf;
use crate::counters::{self, SHARED_MEMORY};
use crate::module::Crawlpike;
use crate::nginx::{
    self,
    Context::{self, Http, Location, Server},
};

type Directive = nginx::Directive<Crawlpike>;

const EVERYWHERE: &[Context] = &[Http, Server, Location];

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a path to a method with a lifetime in its impl is not general enough"
)]
pub(crate) const DIRECTIVES: &[Directive] = &[
    Directive::main(c"crawlpike_config", |main, cf| {
        // If a configuration is in service, it stays.
        let refused =
            |_: &String| counters::count_event(cf.main_thread(), Event::Reload(ReloadResult::Failure));
        main.load(cf).inspect_err(refused)
    })
    .with_shared_memory(SHARED_MEMORY),
    Directive::main(c"crawlpike_refresh", MainConf::set_refresh),
    Directive::main(c"crawlpike_document_memory", MainConf::set_document_memory),
    Directive::location(c"crawlpike", EVERYWHERE, |location, cf| location.set_mode(cf)),
    Directive::location(c"crawlpike_deny_status", EVERYWHERE, |location, cf| location.set_deny_status(cf)),
    Directive::location(c"crawlpike_log_level", EVERYWHERE, |location, cf| location.set_log_level(cf)),
    Directive::location(c"crawlpike_site", &[Server, Location], |location, cf| location.set_site(cf)),
    Directive::location(c"crawlpike_rdns", EVERYWHERE, |location, cf| location.set_rdns(cf)),
    Directive::location(c"crawlpike_trust_header", EVERYWHERE, |location, cf| location.set_trust_header(cf)),
    Directive::location(c"crawlpike_status", &[Location], |location, _| location.set_status())
        .without_argument()
        .with_content(),
];
