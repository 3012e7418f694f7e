//! The limits of a page.

/// The limits of a page. The part that is beyond them is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of the page.
    pub bytes: usize,
    /// The elements and runs of text that are kept.
    pub nodes: usize,
    /// The depth to which elements nest.
    pub depth: usize,
}

impl Default for Limits {
    /// 2 MiB, 262,144 elements and runs of text, 256 levels.
    fn default() -> Self {
        Self { bytes: 2 << 20, nodes: 1 << 18, depth: 256 }
    }
}
