//! The calls from nginx, each with the part of the module that answers it.

use std::ops::ControlFlow;

use crawlpike_core::metrics::{Event, ReloadResult};
use crawlpike_document_gate::{Finished, Held};

use crate::conf::{LocationConf, MainConf};
use crate::counters;
use crate::directives::DIRECTIVES;
use crate::documents::{self, PageBody};
use crate::feed_states;
use crate::gate;
use crate::metrics;
use crate::module::{Crawlpike, Request};
use crate::names::{self, Question};
use crate::nginx::{Answered, Configuration, Directive, MainThread, Module, NameAnswer, Position, Task};
use crate::response;
use crate::variables::{VARIABLES, Variable};

const TASKS: &[Task<Crawlpike>] = &[
    Task {
        start: |main, worker| main.refresh.on_worker(worker),
        run: |main, main_thread| main.refresh.on_timer(&main.ruleset, main_thread),
    },
    Task {
        start: |main, _| feed_states::on_worker(&main.ruleset),
        run: |main, main_thread| feed_states::on_timer(&main.ruleset, main_thread),
    },
    Task { start: |main, _| documents::on_worker(&main.ruleset), run: |_, _| documents::on_timer() },
];

impl Module for Crawlpike {
    const DIRECTIVES: &'static [Directive<Self>] = DIRECTIVES;
    const TASKS: &'static [Task<Self>] = TASKS;
    const VARIABLES: &'static [(&'static str, Variable)] = VARIABLES;

    fn on_directive(main: &MainConf, name: &'static str, position: Position) {
        main.usage.note(name, position);
    }

    fn check<'c>(
        location: &mut LocationConf<'c>,
        main: &MainConf,
        configuration: &Configuration<'c>,
    ) -> Result<(), (Position, String)> {
        location.check(main, configuration)
    }

    fn on_configuration(main: &MainConf, configuration: &Configuration<'_>) {
        main.usage.warn(configuration);
    }

    fn on_cycle(main: Option<&MainConf>, main_thread: MainThread<'_>, is_reload: bool) {
        if let Some(ruleset) = main.and_then(|main| main.ruleset.get()) {
            feed_states::on_cycle(&ruleset, main_thread);
            if is_reload {
                let result = ReloadResult::of(Some(&ruleset), main_thread.now());
                counters::count_event(main_thread, Event::Reload(result));
            }
        }
    }

    fn evaluate(request: &Request<'_>, variable: &Variable) -> Option<String> {
        gate::evaluate(request, *variable)
    }

    fn on_request(request: &mut Request<'_>) {
        gate::on_request(request);
    }

    fn asks_questions(main: &MainConf) -> bool {
        main.usage.has_lookups()
    }

    fn question(request: &Request<'_>) -> Option<Question> {
        names::question(request)
    }

    fn on_answer(request: &Request<'_>, question: &Question, answer: NameAnswer) {
        names::on_answer(request, question, answer);
    }

    fn on_access(request: Request<'_>) -> ControlFlow<Answered> {
        gate::on_access(request)
    }

    fn on_content(request: Request<'_>) -> Answered {
        metrics::on_content(request)
    }

    fn replaces_bodies(main: &MainConf) -> bool {
        main.ruleset.get().is_some_and(|ruleset| ruleset.sends_documents())
    }

    fn on_response(request: &mut Request<'_>) -> Option<PageBody> {
        response::on_response(request)
    }

    fn on_converted(request: &mut Request<'_>, _: &PageBody, finished: Finished) -> Option<Held> {
        documents::on_converted(request, finished)
    }

    fn on_unconverted(request: &mut Request<'_>, body: &PageBody) {
        documents::on_unconverted(request, body);
    }

    fn on_abandoned(request: &Request<'_>, body: &PageBody) {
        documents::on_abandoned(request, body);
    }

    fn on_log(request: &Request<'_>) {
        metrics::on_log(request);
    }
}
