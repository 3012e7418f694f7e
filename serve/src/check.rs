//! A request that a proxy asks about, decided as in the gates: what is to be done with it, and with its response.

use std::convert::Infallible;

use crawlpike_core::{
    Action, Decision, HeaderName, NameLookup, Overrides, PlainRequest, Ruleset, UPSTREAM_HEADER, is_forgery,
};
use crawlpike_envoy_gate::{
    Change, ChangedHeaders, HeaderLines, Outcome, Recent, Stream, UnknownName, on_request, on_response,
};

/// A header with its value.
pub(crate) type Header = (Vec<u8>, Vec<u8>);

/// The consequences of a decision, for the proxy to carry out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The value of `X-Crawlpike`; `None` for people.
    pub(crate) facts: Option<String>,
    /// The single facts that the configuration asks for.
    pub(crate) single_facts: Vec<(String, String)>,
    /// The names of request headers in which the client speaks in our name.
    pub(crate) forgeries: Vec<Vec<u8>>,
    /// The value of the request's `Connection` header, if it must change.
    pub(crate) connection: Option<Vec<u8>>,
    /// The lines that the response is to have beside those of the upstream.
    pub(crate) response_lines: Vec<Header>,
    /// The response in place of the upstream's.
    pub(crate) answer: Option<Answer>,
}

impl Verdict {
    /// That of a request with these headers that passes without a decision. What the client says in our name goes all the same.
    pub(crate) fn passing(headers: &[(&str, &[u8])]) -> Self {
        let names = headers.iter().map(|(name, _)| name.as_bytes()).filter(|name| is_forgery(name));
        Self { forgeries: names.map(<[u8]>::to_vec).collect(), ..Self::default() }
    }
}

/// A response in place of the upstream's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// True if the request is denied. Otherwise it asks for a policy, and this is the policy.
    pub(crate) is_denial: bool,
    /// The status.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: Vec<Header>,
    /// The body.
    pub(crate) body: Vec<u8>,
}

/// The stream of a question: what the gates of Envoy do to a stream is noted here.
struct Noted<'q> {
    request: PlainRequest<'q>,
    verdict: Verdict,
}

/// The response is still to come.
struct NoLines;

impl HeaderLines for NoLines {
    fn lines(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        [].into_iter()
    }
}

impl<'q> Stream for Noted<'q> {
    type Error = Infallible;
    type Request<'s>
        = PlainRequest<'q>
    where
        Self: 's;
    type Lines<'s>
        = NoLines
    where
        Self: 's;

    const SEES_OWN_RESPONSES: bool = false;
    const MAKES_DOCUMENTS: bool = false;

    fn request(&self) -> Result<PlainRequest<'q>, Infallible> {
        Ok(self.request)
    }

    fn response_has_any(&self, _: &[HeaderName]) -> Result<bool, Infallible> {
        Ok(false)
    }

    fn lines(&self, _: ChangedHeaders) -> Result<NoLines, Infallible> {
        Ok(NoLines)
    }

    fn change(&mut self, headers: ChangedHeaders, name: &[u8], change: Change<'_>) -> Result<(), Infallible> {
        match (headers, change) {
            (ChangedHeaders::Response, Change::Add(value) | Change::Replace(value)) => {
                self.verdict.response_lines.push((name.to_vec(), value.to_vec()));
            }
            (ChangedHeaders::Request, Change::Remove) if is_forgery(name) => {
                self.verdict.forgeries.push(name.to_vec());
            }
            (ChangedHeaders::Request, Change::Remove) => self.verdict.connection = Some(Vec::new()),
            (ChangedHeaders::Request, Change::Replace(value)) => {
                self.verdict.connection = Some(value.to_vec());
            }
            // The facts come by `show`, too. A question has no trailers.
            (ChangedHeaders::Request, Change::Add(_))
            | (ChangedHeaders::Response, Change::Remove)
            | (ChangedHeaders::RequestTrailers | ChangedHeaders::ResponseTrailers, _) => {}
        }
        Ok(())
    }

    fn change_path(&mut self, _: &[u8]) -> Result<(), Infallible> {
        Ok(())
    }

    fn show(&mut self, fact: Option<&str>, value: &str) -> Result<(), Infallible> {
        match fact {
            None => self.verdict.facts = Some(value.to_owned()),
            Some(fact) => self.verdict.single_facts.push((fact.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    fn respond(
        &mut self,
        status: u16,
        _: &str,
        headers: &[(&[u8], &[u8])],
        body: &[u8],
    ) -> Result<(), Infallible> {
        let headers = headers.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
        self.verdict.answer = Some(Answer { is_denial: false, status, headers, body: body.to_vec() });
        Ok(())
    }
}

/// The name of [`UPSTREAM_HEADER`] in the headers of HTTP/2 and of answers.
pub(crate) const OURS: &str = UPSTREAM_HEADER.lowercase;

/// Decides about a request. `decided` is called as soon as the decision counts.
///
/// # Errors
///
/// Only a name of its client's address can verify the client, and it was to be asked for.
pub(crate) fn check(
    ruleset: &Ruleset,
    recent: &Recent,
    request: PlainRequest<'_>,
    overrides: Overrides,
    unknown: UnknownName,
    decided: impl FnOnce(&Decision),
) -> Result<Verdict, NameLookup> {
    let mut noted = Noted { request, verdict: Verdict::default() };
    let mut decision = None;
    let note = |made: &Decision| {
        decision = Some(*made);
        decided(made);
    };
    let Ok(outcome) = on_request(&mut noted, ruleset, recent, overrides, unknown, note);
    match outcome {
        Outcome::Asks(lookup) => return Err(lookup),
        Outcome::Answers(answer) => {
            let Ok(()) = answer.send(&mut noted);
        }
        Outcome::Continues(_) => {}
    }
    let is_denied = decision.is_some_and(|decision| decision.action == Action::Deny && decision.enforced);
    if let Some(answer) = &mut noted.verdict.answer {
        answer.is_denial = is_denied;
    }
    if let Some(decision) = decision.filter(|_| !is_denied) {
        let Ok(()) = on_response(&mut noted, ruleset, &decision);
    }
    Ok(noted.verdict)
}
