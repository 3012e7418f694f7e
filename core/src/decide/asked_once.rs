//! A request whose facts are asked for once in a decision.

use core::cell::OnceCell;

use crate::path::request::RequestTarget;
use crate::request::{Request, forward_facts};

/// A request, as a decision asks it: what the gate has to look for is kept, and the target is looked through once.
pub(super) struct AskedOnce<'q, R> {
    request: &'q R,
    /// True if a path with `.md` added asks for the markdown of a page.
    has_md_paths: bool,
    target: OnceCell<RequestTarget<'q>>,
    user_agent: OnceCell<Option<&'q [u8]>>,
}

impl<'q, R: Request> AskedOnce<'q, R> {
    pub(super) fn new(request: &'q R, has_md_paths: bool) -> Self {
        Self { request, has_md_paths, target: OnceCell::new(), user_agent: OnceCell::new() }
    }

    pub(super) fn target(&self) -> &RequestTarget<'q> {
        self.target.get_or_init(|| RequestTarget::new(self.request.path()).with_md_paths(self.has_md_paths))
    }
}

impl<R: Request> Request for AskedOnce<'_, R> {
    forward_facts!(request);

    fn user_agent(&self) -> Option<&[u8]> {
        *self.user_agent.get_or_init(|| self.request.user_agent())
    }

    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        self.request.header_lines(name)
    }
}
