//! The state that all listeners share: the ruleset, the settings, the lookups of names.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::AtomicBool;

use crawlpike_core::{Decision, Mode, NameFact, NameLookup, Overrides, PlainRequest, SignatureBudget};
use crawlpike_envoy_gate::UnknownName;
use crawlpike_files::catch;

use crate::check::{Verdict, check};
use crate::dialect::Dialect;
use crate::names::Names;
use crate::source::{Loaded, Source};
use crate::trust::Trust;
use crate::unclear::Unclear;

/// The gate.
pub(crate) struct Gate {
    pub(crate) source: Source,
    pub(crate) trust: Trust,
    /// The dialect of all questions over HTTP. `None`: each question shows its own.
    pub(crate) dialect: Option<&'static Dialect>,
    pub(crate) names: Option<Names>,
    /// True as soon as the server is to end.
    pub(crate) is_ending: AtomicBool,
}

/// The settings of the proxy's route, which take the place of those of the document.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Route<'q> {
    pub(crate) mode: Option<Mode>,
    /// The name of a site in the document.
    pub(crate) site: Option<&'q str>,
}

impl Gate {
    /// Decides about a request. An internal error lets it pass.
    pub(crate) async fn check(&self, request: PlainRequest<'_>, route: Route<'_>) -> Verdict {
        let path = with_slash(request.path);
        let request = PlainRequest { path: &path, ..request };
        let loaded = self.source.ruleset();
        let unknown = if self.names.is_some() { UnknownName::Ask } else { UnknownName::Leave };
        let lookup = match self.decide(&loaded, request, route, None, unknown) {
            Ok(verdict) => return verdict,
            Err(lookup) => lookup,
        };
        let outcome = match &self.names {
            Some(names) => names.outcome(&lookup, &self.source).await,
            None => crawlpike_core::NameOutcome::Unknown,
        };
        let name = Some(lookup.fact(outcome));
        let verdict = self.decide(&loaded, request, route, name, UnknownName::Leave);
        verdict.unwrap_or_else(|_| Verdict::passing(request.headers))
    }

    fn decide(
        &self,
        loaded: &Loaded,
        request: PlainRequest<'_>,
        route: Route<'_>,
        name: Option<NameFact>,
        unknown: UnknownName,
    ) -> Result<Verdict, NameLookup> {
        let site = route.site.and_then(|name| loaded.ruleset.site(name));
        let overrides = Overrides { mode: route.mode, site, name, ..Overrides::default() };
        let memory = loaded.memory();
        let count = |decision: &Decision| self.source.count_request(decision, loaded, &memory);
        let request =
            PlainRequest { signature_budget: Some(budget()), now: crawlpike_files::now(), ..request };
        match catch(|| check(&loaded.ruleset, &memory.recent, request, overrides, unknown, count)) {
            Ok(verdict) => verdict,
            Err(panic) => {
                self.source.note_error(&format_args!("internal error: {panic}"));
                Ok(Verdict::passing(request.headers))
            }
        }
    }

    /// Counts a question that is not clear. Returns true if the request passes all the same: nobody is denied unless the document,
    /// or the route, says `enforce`.
    pub(crate) fn passes_unclear(&self, why: Unclear, route: Route<'_>) -> bool {
        self.source.note_error(&format_args!("a question that cannot be answered: {why}"));
        route.mode.unwrap_or_else(|| self.source.ruleset().ruleset.mode()) != Mode::Enforce
    }
}

/// A request target whose path is not empty: `GET http://example.com?a` asks for `/?a`, and a rule for `/` has to see it like that.
fn with_slash(target: &[u8]) -> Cow<'_, [u8]> {
    match target {
        [b'?', ..] => Cow::Owned([b"/", target].concat()),
        _ => Cow::Borrowed(target),
    }
}

/// The budget of all threads for signatures that may not hold.
fn budget() -> &'static SignatureBudget {
    static OF_ALL_THREADS: SignatureBudget = SignatureBudget::new();
    // The standard library's random keys of a hash are the system's.
    OF_ALL_THREADS.seed(|| RandomState::new().build_hasher().finish());
    &OF_ALL_THREADS
}
