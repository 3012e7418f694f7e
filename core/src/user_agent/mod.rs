//! What a User-Agent says: which agent it claims to be, and whether it is that of automation at all.

mod claims;
mod form;
mod known_parts;
mod lists;
mod phrases;
mod reading;
mod recent;
#[cfg(test)]
mod tests;
mod token;
mod vocabulary;
mod window_filter;
mod words;

pub use claims::{Claims, ClaimsError, Speaker, Tokens};
pub use recent::RecentSpeakers;
#[cfg(test)]
pub(crate) use token::MAX_TOKEN;
pub use token::{TokenError, check_token};
