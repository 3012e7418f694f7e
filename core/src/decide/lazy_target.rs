//! The target of a request, asked for when it is first needed, and looked through once.

use core::cell::OnceCell;

use crate::http::request::Request;
use crate::path::request::RequestTarget;

/// A request's target, which may cost a gate a call of its host.
pub(super) struct LazyTarget<'q, R> {
    request: &'q R,
    target: OnceCell<RequestTarget<'q>>,
}

impl<'q, R: Request> LazyTarget<'q, R> {
    pub(super) fn new(request: &'q R) -> Self {
        Self { request, target: OnceCell::new() }
    }

    pub(super) fn get(&self) -> &RequestTarget<'q> {
        self.target.get_or_init(|| RequestTarget::new(self.request.path()))
    }
}
