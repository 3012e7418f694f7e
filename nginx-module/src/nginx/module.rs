//! The parts of an HTTP module of nginx.

use std::ops::ControlFlow;
use std::time::Duration;

use super::answer::Answered;
use super::body::{Bytes, Converted};
use super::conf::{Configuration, Position};
use super::directive::Directive;
use super::main_thread::MainThread;
use super::names::NameAnswer;
use super::request::Request;
use super::types::ModuleTypes;

/// A module: its tables, and what nginx calls. `http_module!` exports it.
pub(crate) trait Module: ModuleTypes {
    const DIRECTIVES: &'static [Directive<Self>];
    /// The work that each worker does again and again.
    const TASKS: &'static [Task<Self>];
    /// Names of variables, without the `$`, and what is to be shown.
    const VARIABLES: &'static [(&'static str, Self::Variable)];

    /// nginx has read a directive of the module.
    fn on_directive(main: &Self::Main, name: &'static str, position: Position);

    /// nginx has merged a location's configuration with that of the block around it. An error refuses the configuration.
    fn check<'c>(
        location: &mut Self::Location<'c>,
        main: &Self::Main,
        configuration: &Configuration<'c>,
    ) -> Result<(), (Position, String)>;

    /// nginx has read the whole configuration, and merged that of each location.
    fn on_configuration(main: &Self::Main, configuration: &Configuration<'_>);

    /// A configuration comes into service: the first one, or a new one. `main` is `None` if it has no `http` block.
    fn on_cycle(main: Option<&Self::Main>, main_thread: MainThread<'_>, is_reload: bool);

    /// The value of a variable for the request that the client sent. It is evaluated anew each time it is read. `None`: not
    /// found.
    fn evaluate(request: &Request<'_, Self>, variable: &Self::Variable) -> Option<String>;

    /// nginx has read a request, and evaluated no variable of the configuration. This is the post-read phase.
    fn on_request(request: &mut Request<'_, Self>);

    /// Returns true if any request may have to wait for the answer to a question.
    fn asks_questions(main: &Self::Main) -> bool;

    /// The pre-access phase, before nginx's own limits. Returns the question for which the request is to wait.
    fn question(request: &Request<'_, Self>) -> Option<Self::Question>;

    /// The answer to the question of a request, which goes on now.
    fn on_answer(request: &Request<'_, Self>, question: &Self::Question, answer: NameAnswer);

    /// The access phase, before nginx's own checks. `Break` ends the request.
    fn on_access(request: Request<'_, Self>) -> ControlFlow<Answered>;

    /// A request for a location that has a directive with content.
    fn on_content(request: Request<'_, Self>) -> Answered;

    /// Returns true if the module may take the place of the bodies of responses.
    fn replaces_bodies(main: &Self::Main) -> bool;

    /// The response to a client's request is about to be sent, whoever made it. Returns what is to collect its body, if the
    /// module is to take the body's place. The head then waits.
    fn on_response(request: &mut Request<'_, Self>) -> Option<Self::Body>;

    /// A body was converted. Changes the head of the response, and returns what is sent as its body. `None`: the body is sent
    /// as it came.
    fn on_converted(
        request: &mut Request<'_, Self>,
        body: &Self::Body,
        converted: Converted<Self>,
    ) -> Option<Bytes<Self>>;

    /// A body is to be sent as it came. Changes the head of the response.
    fn on_unconverted(request: &mut Request<'_, Self>, body: &Self::Body);

    /// The client has left before its response was made.
    fn on_abandoned(request: &Request<'_, Self>, body: &Self::Body);

    /// A client's request has ended.
    fn on_log(request: &Request<'_, Self>);
}

/// Work that a worker does again and again.
pub(crate) struct Task<M: ModuleTypes> {
    /// A worker starts. Returns when [`Self::run`] is to be called, if at all.
    pub(crate) start: fn(&M::Main, Worker) -> Option<Duration>,
    /// The time has come. Returns when it is to be called again.
    pub(crate) run: fn(&M::Main, MainThread<'_>) -> Option<Duration>,
}

/// Which of how many workers a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Worker {
    /// From 0 on.
    pub(crate) number: u32,
    pub(crate) count: u32,
}
