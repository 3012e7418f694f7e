//! The claims of a User-Agent: the agent that it names, and the signs that its client is automation.

mod claims;
mod fetching;
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
pub(crate) use fetching::sends_fetch_mode;
pub use recent::RecentSpeakers;
#[cfg(test)]
pub(crate) use token::MAX_TOKEN;
pub use token::{TokenError, check_token};
