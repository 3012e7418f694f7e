//! What nginx calls, and who answers.

use std::ops::ControlFlow;
use std::time::Duration;

use crawlward_core::metrics::ReloadResult;

use crate::conf::{LocationConf, MainConf};
use crate::counters;
use crate::directives::DIRECTIVES;
use crate::gate;
use crate::metrics;
use crate::module::{Crawlward, Request};
use crate::nginx::{Answered, Configuration, Directive, MainThread, Module, Position, Worker};
use crate::response;
use crate::variables::{VARIABLES, Variable};

impl Module for Crawlward {
    const DIRECTIVES: &'static [Directive<Self>] = DIRECTIVES;
    const VARIABLES: &'static [(&'static str, Variable)] = VARIABLES;

    fn check<'c>(
        location: &mut LocationConf<'c>,
        main: &MainConf,
        configuration: &Configuration<'c>,
    ) -> Result<(), (Position, String)> {
        location.check(main, configuration)
    }

    fn on_cycle(main_thread: MainThread<'_>, is_reload: bool) {
        if is_reload {
            counters::count_reload(main_thread, ReloadResult::Success);
        }
    }

    fn on_worker(main: &MainConf, _: MainThread<'_>, worker: Worker) -> Option<Duration> {
        main.refresh.on_worker(worker)
    }

    fn on_timer(main: &MainConf, main_thread: MainThread<'_>) -> Option<Duration> {
        main.refresh.on_timer(&main.ruleset, main_thread)
    }

    fn evaluate(request: &Request<'_>, variable: &Variable) -> Option<String> {
        gate::evaluate(request, *variable)
    }

    fn on_request(request: &mut Request<'_>) {
        gate::on_request(request);
    }

    fn on_access(request: Request<'_>) -> ControlFlow<Answered> {
        gate::on_access(request)
    }

    fn on_content(request: Request<'_>) -> Answered {
        metrics::on_content(request)
    }

    fn on_response(request: &mut Request<'_>) {
        response::on_response(request);
    }

    fn on_log(request: &Request<'_>) {
        metrics::on_log(request);
    }
}
