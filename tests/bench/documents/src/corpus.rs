//! Corpora as `corpora.py` writes them: pages, and what each is about.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The main content of a page, as people have marked it.
#[derive(Debug, Deserialize)]
pub(crate) struct Truth {
    pub(crate) sort: String,
    /// The whole text of its content.
    pub(crate) text: Option<String>,
    /// Or text that belongs to it, and text that does not.
    #[serde(default)]
    pub(crate) with: Vec<String>,
    #[serde(default)]
    pub(crate) without: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) id: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) truth: Truth,
}

#[derive(Debug)]
pub(crate) struct Corpus {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) pages: Vec<Page>,
}

/// The results of a peer in Python for a corpus.
#[derive(Debug, Deserialize)]
pub(crate) struct Made {
    pub(crate) version: String,
    pub(crate) seconds: f64,
    pub(crate) texts: BTreeMap<String, String>,
}

impl Corpus {
    pub(crate) fn read(folder: &Path) -> Self {
        let truth = fs::read(folder.join("truth.json")).expect("a corpus has truth.json");
        let truth: BTreeMap<String, Truth> =
            serde_json::from_slice(&truth).expect("truth.json as corpora.py writes it");
        let page = |(id, truth)| {
            let bytes =
                fs::read(folder.join(format!("{id}.html"))).expect("truth.json names pages that are there");
            Page { id, bytes, truth }
        };
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { name, folder: folder.to_owned(), pages: truth.into_iter().map(page).collect() }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pages.iter().map(|page| page.bytes.len()).sum()
    }

    /// The results of a peer in Python for the corpus, if it has run.
    pub(crate) fn made_by(&self, tool: &str) -> Option<Made> {
        let made = fs::read(self.folder.join(format!("peers/{tool}.json"))).ok()?;
        Some(serde_json::from_slice(&made).expect("what peers.py writes"))
    }
}
