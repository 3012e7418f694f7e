//! Directories of keys that are fetched from their URLs.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Compiler;
use super::subscriptions::{self, Subscriptions};
use crate::config::{Config, KeysConfig};
use crate::keys::identifier::Location;
use crate::keys::{self, Base64Url};
use crate::source::diagnostic::{Diagnostics, Load};

/// A directory of keys that is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySubscription<'s> {
    /// The URL at which it is published.
    pub url: &'s str,
    /// True if that is the well-known place, at which a directory has a media type of its own.
    pub is_well_known: bool,
    /// Its file, relative to the document.
    pub source: &'s str,
    /// The most bytes that it may have.
    pub bytes: usize,
}

/// A directory of the configuration, with the URL at which it is fetched.
pub(super) struct PublishedDirectory {
    location: Location,
    source: String,
}

/// The content of a directory of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryKeys {
    /// The numbers (`keyid`) of the keys that can be used.
    pub ids: Vec<String>,
    /// The number of keys that cannot be used.
    pub unusable: usize,
}

fn entries(config: &Config) -> impl Iterator<Item = &KeysConfig> {
    config.agents.iter().flat_map(|agent| &agent.keys)
}

impl Compiler<'_> {
    /// Checks that each URL has an identifier, and each file one URL.
    pub(super) fn check_published_keys(&mut self, config: &Config) {
        let mut urls: BTreeMap<&str, String> = BTreeMap::new();
        for entry in entries(config) {
            let Some(Location { url, .. }) = Location::of(&entry.directory) else {
                let message = format!("`{}` is not a key directory: use an https URL", *entry.directory);
                self.own.error(entry.directory.position, "SIG-5", message);
                continue;
            };
            // A signature would be attributed to a URL that never had its key.
            if *urls.entry(entry.source.as_str()).or_insert_with(|| url.clone()) != url {
                let message = format!("{} is also the file of another directory of keys", *entry.source);
                self.own.error(entry.source.position, "SIG-6", message);
            }
        }
    }
}

impl Subscriptions {
    pub(super) fn published_directories(config: &Config) -> Vec<PublishedDirectory> {
        let mut known = subscriptions::inlined(config);
        let directories = entries(config).filter_map(|entry| {
            let location = Location::of(&entry.directory)?;
            let source = entry.source.as_str();
            known.insert(source).then(|| PublishedDirectory { location, source: source.into() })
        });
        directories.collect()
    }

    /// The directories of keys that are fetched, each file once, in the order of the document; not those whose file is in the
    /// document.
    pub fn key_directories(&self) -> impl Iterator<Item = KeySubscription<'_>> {
        self.directories().iter().map(|PublishedDirectory { location, source }| KeySubscription {
            url: &location.url,
            is_well_known: location.is_well_known,
            source,
            bytes: keys::MOST_BYTES,
        })
    }

    /// Reads an answer, or a file, as a directory of keys.
    ///
    /// # Errors
    ///
    /// The reason why the answer is not a directory.
    pub fn read_directory(url: &str, bytes: &[u8]) -> Result<DirectoryKeys, String> {
        let mut diagnostics = Diagnostics::new(url, Load);
        let keys = keys::read(bytes, &mut diagnostics);
        let diagnostics = diagnostics.into_items();
        let unusable = diagnostics.len();
        let keys = keys.ok_or_else(|| subscriptions::reason(diagnostics))?;
        let ids = keys.iter().map(|key| format!("{}", Base64Url(&key.thumbprint))).collect();
        Ok(DirectoryKeys { ids, unusable })
    }
}
