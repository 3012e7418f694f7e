//! Documents: pages in the forms that agents read, for clients that ask for them.
//!
//! A gate makes a [`DocumentWish`] of a request, and changes the request's headers as it says. With the head of the response,
//! [`DocumentPlan::treat`] decides whether the page becomes a document. If so, the gate collects the page, and its headers
//! become those of [`Conversion`].

mod conversion;
mod entity_tag;
mod form;
mod headers;
mod outcome;
mod plan;
mod prospect;
mod wish;

pub use conversion::{Coding, Conversion, Made};
pub use form::DocumentForm;
pub use headers::DocumentHeaders;
pub use outcome::{DocumentOutcome, DocumentResult};
pub use plan::{DocumentPlan, DocumentTreatment};
pub use prospect::DocumentProspect;
pub use wish::{DocumentWish, RequestEdits, page_url};

#[cfg(test)]
mod tests;
