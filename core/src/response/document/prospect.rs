//! The answer to a request for a document, as far as it is known without the page: for explanations and reports.

use super::form::DocumentForm;
use super::outcome::DocumentOutcome;
use super::plan::DocumentTreatment;
use crate::decide::decision::Decision;
use crate::request::{Overrides, Request};
use crate::ruleset::data::Ruleset;

/// The answer to a request for a page, if the body of the page does not forbid a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentProspect {
    /// No document is offered: by the site, for the method, or because the gate itself answers.
    NotOffered,
    /// The client does not prefer a document to the page.
    NotWanted,
    /// A document in this form.
    Sent(DocumentForm),
    /// The page as it is, for this reason.
    Refused(DocumentOutcome),
}

impl DocumentProspect {
    /// The form, or the reason why the page is sent as it is; `None` if nobody asked.
    pub fn as_str(self) -> Option<&'static str> {
        match self {
            Self::NotOffered | Self::NotWanted => None,
            Self::Sent(form) => Some(form.as_str()),
            Self::Refused(outcome) => Some(outcome.as_str()),
        }
    }
}

impl Ruleset {
    /// The answer to a request that was decided about, by the status of the response and its header lines, each a name and a
    /// value.
    pub fn document_prospect<'u>(
        &self,
        decision: &Decision,
        request: &impl Request,
        status: u16,
        response: impl Iterator<Item = (&'u [u8], &'u [u8])>,
    ) -> DocumentProspect {
        let is_at_page = self.added_to_page(request, Overrides::default()).is_some();
        let wish = self.document_wish(decision, request, is_at_page);
        let plan = wish.and_then(|wish| self.document_plan(decision, wish));
        let (Some(wish), Some(plan)) = (wish, plan) else { return DocumentProspect::NotOffered };
        let result = match plan.treat(status, response, request.path(), &[]) {
            DocumentTreatment::Headers(headers) => headers.result,
            DocumentTreatment::Unchanged | DocumentTreatment::Conversion(_) => None,
        };
        let refusal = result.map(|result| result.outcome).filter(|outcome| *outcome != DocumentOutcome::Made);
        match (refusal, wish.form()) {
            (Some(outcome), _) => DocumentProspect::Refused(outcome),
            (None, Some(form)) => DocumentProspect::Sent(form),
            (None, None) => DocumentProspect::NotWanted,
        }
    }
}
