//! What a User-Agent says: which agent it claims to be, and whether it is that of automation at all.

mod automation;
mod byte_mask;
mod claims;
mod lists;
mod phrases;
mod plain_browser;
mod window_filter;

pub use automation::looks_automated;
pub use claims::{Claims, ClaimsError, MAX_TOKEN, Speaker, TokenError, check_token};
