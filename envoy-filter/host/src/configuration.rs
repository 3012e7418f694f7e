//! The plugin's configuration: the document with its files, or the compiled ruleset.

use std::hash::{DefaultHasher, Hasher};

use crawlpike_core::{Compiled, NoFiles, Ruleset, is_stored};

use crate::host::Refused;
use crate::{HostBytes, raw};

/// The name of the configuration in diagnostics.
pub const NAME: &str = "configuration";

/// The bytes of the configuration that are fetched at once, a whole number of words. The memory of a virtual machine never
/// shrinks, so a compiled ruleset is fetched in pieces to where it stays, and is in memory once, not twice.
const PIECE: usize = 1 << 18;

/// A configuration, compiled or loaded.
pub struct Configuration {
    /// The result, with its diagnostics.
    pub compiled: Compiled,
    /// The same for equal configurations only.
    pub fingerprint: u64,
}

/// The name that Envoy's configuration gives the plugin; empty where it gives none.
pub fn plugin_name() -> Result<String, Refused> {
    let name = raw::property("plugin_name")?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&name).into_owned())
}

/// Reads the configuration, which has this size.
pub fn read(size: usize) -> Result<Configuration, Refused> {
    let mut hasher = DefaultHasher::new();
    let mut pieces = Pieces { at: 0, size };
    let first = pieces.fetch()?;
    if !is_stored(&first) {
        let mut document = Vec::with_capacity(size);
        document.extend_from_slice(&first);
        while !pieces.at_end() {
            document.extend_from_slice(&pieces.fetch()?);
        }
        hasher.write(&document);
        let compiled = Ruleset::compile(NAME, &document, &NoFiles);
        return Ok(Configuration { compiled, fingerprint: hasher.finish() });
    }
    // The first piece has the header, and the header has a checksum of all the rest.
    hasher.write(&first);
    let mut words = Vec::with_capacity(size / WORD);
    words.extend(words_of(&first));
    drop(first);
    while !pieces.at_end() {
        words.extend(words_of(&pieces.fetch()?));
    }
    Ok(Configuration { compiled: Compiled::load(NAME, words), fingerprint: hasher.finish() })
}

/// The bytes of a word.
const WORD: usize = size_of::<u32>();

/// The whole words in some bytes. Only a file that was cut has other bytes at its end; the length in its header shows that.
fn words_of(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(WORD).filter_map(|chunk| chunk.first_chunk().copied()).map(u32::from_ne_bytes)
}

struct Pieces {
    at: usize,
    size: usize,
}

impl Pieces {
    fn at_end(&self) -> bool {
        self.at >= self.size
    }

    /// The next piece. Only an empty configuration has an empty one, for which Envoy need not be asked.
    fn fetch(&mut self) -> Result<HostBytes, Refused> {
        let length = PIECE.min(self.size.saturating_sub(self.at));
        if length == 0 {
            return Ok(HostBytes::default());
        }
        let piece = raw::configuration(self.at, length)?;
        self.at += length;
        Ok(piece)
    }
}
