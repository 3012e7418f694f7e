//! Tables of autonomous systems, in the layouts of those who publish them, plain or packed.

mod iptoasn;
mod ipverse;
mod mmdb;
#[cfg(test)]
mod tests;
mod unpack;

use crawlpike_core::{TableBuilder, TableFormat};

/// Reads a table.
///
/// # Errors
///
/// The reason why it cannot be used, for the operator.
pub fn read_table(format: TableFormat, bytes: &[u8], builder: &mut TableBuilder) -> Result<(), String> {
    let (endings, read): (&[&str], Reader) = match format {
        TableFormat::Ipverse => (&[".json", ".csv"], ipverse::read),
        TableFormat::Iptoasn => (&[".tsv"], iptoasn::read),
        TableFormat::Mmdb => (&[".mmdb"], mmdb::read),
    };
    unpack::each(bytes, builder.most_bytes(), endings, &mut |file| read(file, builder))
}

/// Reads one file of a table.
type Reader = fn(&[u8], &mut TableBuilder) -> Result<(), String>;

/// A number of an autonomous system, with or without `AS` before it.
fn number(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).ok()?.trim();
    text.strip_prefix("AS").unwrap_or(text).parse().ok()
}
