//! The body of a denial: a problem document (RFC 9457).

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::Serialize;

use crate::reason::{Reason, Rule};

#[derive(Serialize)]
struct Problem<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'static str>,
    status: u16,
    detail: &'static str,
    reason: Reason,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<Rule<'r>>,
}

/// A problem document.
fn problem(reason: Reason, rule: Option<Rule<'_>>, status: u16) -> Vec<u8> {
    let problem = Problem { title: title(status), status, detail: reason.detail(), reason, rule };
    // Serialising plain strings and numbers can't fail; an empty body would still be a denial.
    let mut body = serde_json::to_vec(&problem).unwrap_or_default();
    body.push(b'\n');
    body
}

/// The problem documents of denials that no rule decided, with the status of their reason: all that is denied for a reason gets
/// the same bytes. One for each reason, in their order.
pub(crate) fn documents() -> Box<[Box<[u8]>]> {
    Reason::ALL.iter().map(|reason| problem(*reason, None, reason.status()).into()).collect()
}

/// The body of a denial.
pub(crate) fn body<'r>(
    documents: &'r [Box<[u8]>],
    reason: Reason,
    rule: Option<Rule<'_>>,
    status: u16,
) -> Cow<'r, [u8]> {
    let is_usual = rule.is_none() && status == reason.status();
    match documents.get(reason as usize).filter(|_| is_usual) {
        Some(document) => Cow::Borrowed(document),
        None => Cow::Owned(problem(reason, rule, status)),
    }
}

/// The name of an error in the registry of status codes (RFC 9110 16.2.1).
fn title(status: u16) -> Option<&'static str> {
    Some(match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        506 => "Variant Also Negotiates",
        507 => "Insufficient Storage",
        508 => "Loop Detected",
        511 => "Network Authentication Required",
        _ => return None,
    })
}
