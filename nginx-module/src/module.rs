//! Crawlpike as a module of nginx: the types that nginx keeps values of.

use crate::conf::{LocationConf, MainConf};
use crate::counters::{Shared, report_bug};
use crate::documents::PageBody;
use crate::names::Question;
use crate::nginx::{self, MainThread, ModuleTypes, PanicHandler};
use crate::state::RequestState;
use crate::variables::Variable;

/// The module.
#[derive(Debug)]
pub(crate) enum Crawlpike {}

/// A request that nginx has passed to the module.
pub(crate) type Request<'r> = nginx::Request<'r, Crawlpike>;

impl ModuleTypes for Crawlpike {
    const NAME: &'static str = "crawlpike";

    type Main = MainConf;
    type Location<'c> = LocationConf<'c>;
    type Variable = Variable;
    type RequestState = RequestState;
    type Body = PageBody;
    type Question = Question;
    type Shared = Shared;
}

impl PanicHandler for Crawlpike {
    fn on_panic(main_thread: MainThread<'_>, message: &str) {
        report_bug(main_thread, "the request passes", message);
    }
}
