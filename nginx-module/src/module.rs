//! Crawlward as a module of nginx: the types that nginx keeps values of.

use crawlward_core::metrics::Counters;

use crate::conf::{LocationConf, MainConf};
use crate::counters::report_bug;
use crate::nginx::{self, MainThread, ModuleTypes, PanicHandler};
use crate::state::RequestState;
use crate::variables::Variable;

/// The module.
#[derive(Debug)]
pub(crate) enum Crawlward {}

/// A request that nginx has passed to the module.
pub(crate) type Request<'r> = nginx::Request<'r, Crawlward>;

impl ModuleTypes for Crawlward {
    const NAME: &'static str = "crawlward";

    type Main = MainConf;
    type Location<'c> = LocationConf<'c>;
    type Variable = Variable;
    type RequestState = RequestState;
    type Shared = Counters;
}

impl PanicHandler for Crawlward {
    fn on_panic(main_thread: MainThread<'_>, message: &str) {
        report_bug(main_thread, "the request passes", message);
    }
}
