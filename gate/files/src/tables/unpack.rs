//! Files that are compressed by gzip, or in a tar archive, or both.

use std::io::{self, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

/// The place of the word that begins each header of a tar archive but the oldest ones.
const TAR: (usize, &[u8]) = (257, b"ustar");

/// For all the files of an archive that are not wanted: so many times the limit of those that are.
const SKIPPED: u64 = 16;

/// Calls `work` with the file, unpacked; of an archive, with each of its files whose names end so. Together they may have
/// `most` bytes.
pub(super) fn each(
    bytes: &[u8],
    most: usize,
    endings: &[&str],
    work: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let is_compressed = bytes.starts_with(&[0x1f, 0x8b]);
    let mut reader: Box<dyn Read> = match is_compressed {
        true => Box::new(MultiGzDecoder::new(bytes)),
        false => Box::new(bytes),
    };
    let mut start = Vec::new();
    reader.by_ref().take(512).read_to_end(&mut start).map_err(unreadable)?;
    let is_archive = start.get(TAR.0..).is_some_and(|header| header.starts_with(TAR.1));
    let mut limit = most;
    let reader = Cursor::new(start).chain(reader);
    match (is_archive, is_compressed) {
        (true, _) => each_in_archive(reader.take(most as u64 * SKIPPED), &mut limit, endings, work),
        (false, true) => work(&whole(reader, &mut limit)?),
        (false, false) => work(bytes),
    }
}

fn each_in_archive(
    reader: impl Read,
    limit: &mut usize,
    endings: &[&str],
    work: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let mut is_empty = true;
    for entry in tar::Archive::new(reader).entries().map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if endings.iter().any(|ending| name.ends_with(ending)) {
            is_empty = false;
            let file = whole(entry, limit)?;
            work(&file).map_err(|why| format!("{name}: {why}"))?;
        }
    }
    match is_empty {
        true => Err(format!("the archive has no file whose name ends with {}", endings.join(" or "))),
        false => Ok(()),
    }
}

/// All bytes, which count against the limit.
fn whole(reader: impl Read, limit: &mut usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    reader.take(*limit as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    *limit = limit.checked_sub(bytes.len()).ok_or("it is larger than `limits.bytes` when unpacked")?;
    Ok(bytes)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn unreadable(error: io::Error) -> String {
    format!("it cannot be unpacked: {error}")
}
