//! The forms in which a report is shown.

mod csv;
mod html;
mod json;
mod table;
mod text;
mod words;

pub use csv::write_csv;
pub use html::write_html;
pub use json::write_json;
pub use text::write_text;
