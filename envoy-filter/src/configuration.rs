//! The plugin's configuration: the document with its files, or the compiled ruleset.

use std::hash::{DefaultHasher, Hasher};

use crawlward_core::{Compiled, NoFiles, Ruleset, is_stored};

use crate::host_calls;

/// How diagnostics name the configuration.
pub(crate) const NAME: &str = "configuration";

/// How much of the configuration is fetched at once, a whole number of words. The memory of a virtual machine never
/// shrinks, so a compiled ruleset goes piece by piece to where it stays, and is there once, not twice.
const PIECE: usize = 1 << 18;

/// A configuration, compiled or loaded.
pub(crate) struct Configuration {
    pub(crate) compiled: Compiled,
    /// The same for equal configurations only.
    pub(crate) fingerprint: u64,
}

/// Reads the configuration, of which Envoy says how large it is; `None` where Envoy does not give it.
pub(crate) fn read(size: usize) -> Option<Configuration> {
    let mut hasher = DefaultHasher::new();
    let mut pieces = Pieces { at: 0, size };
    let first = pieces.fetch()?;
    if !is_stored(&first) {
        let mut document = first;
        document.reserve_exact(size.saturating_sub(document.len()));
        while !pieces.at_end() {
            document.extend_from_slice(&pieces.fetch()?);
        }
        hasher.write(&document);
        let compiled = Ruleset::compile(NAME, &document, &NoFiles);
        return Some(Configuration { compiled, fingerprint: hasher.finish() });
    }
    // With the header in it, in which is a checksum of all the rest.
    hasher.write(&first);
    let mut words = Vec::with_capacity(size / WORD);
    words.extend(words_of(&first));
    drop(first);
    while !pieces.at_end() {
        words.extend(words_of(&pieces.fetch()?));
    }
    Some(Configuration { compiled: Compiled::load(NAME, words), fingerprint: hasher.finish() })
}

/// The bytes of a word.
const WORD: usize = size_of::<u32>();

/// The whole words in some bytes. Only a cut file has others at its end, and the length that its header gives tells.
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

    /// The next piece; only an empty configuration has an empty one.
    fn fetch(&mut self) -> Option<Vec<u8>> {
        let most = PIECE.min(self.size.saturating_sub(self.at));
        let piece = host_calls::plugin_configuration(self.at, most)?;
        self.at += piece.len();
        (piece.len() == most).then_some(piece)
    }
}
