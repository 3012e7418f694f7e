//! From the directories of keys that agents name to one ring of keys.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Compiler, Files};
use crate::config::{Config, KeysConfig};
use crate::ids::{AgentId, List};
use crate::json::units::Seconds;
use crate::keys::identifier::{Identifier, Reference};
use crate::keys::{self, Key, KeyRing};
use crate::ruleset::data::Agent;
use crate::source::cause::Cause;

impl Compiler<'_> {
    /// Reads the directories of all agents.
    pub(super) fn keys(&mut self, config: &Config, agents: &List<AgentId, Agent>) -> KeyRing {
        let Seconds(skew) = config.signature_clock_skew;
        let mut ring = KeyRing::new(skew);
        // The agents of the configuration come first, in its order.
        let named = config.agents.iter().zip(agents.enumerate());
        // Agents can share a directory and its file.
        let mut files: BTreeMap<&str, Vec<Key>> = BTreeMap::new();
        for (agent, (id, _)) in named {
            for entry in &agent.keys {
                let Some(identifier) = identifier(entry) else { continue };
                let path = entry.source.as_str();
                let keys = match files.get(path) {
                    Some(keys) => keys.clone(),
                    None => {
                        let keys = self.directory(entry);
                        files.insert(path, keys.clone());
                        keys
                    }
                };
                ring.add(&identifier, id, keys);
            }
        }
        ring
    }

    /// The keys in the file of a directory.
    fn directory(&mut self, entry: &KeysConfig) -> Vec<Key> {
        let (path, position) = (entry.source.as_str(), entry.source.position);
        let found = self.files.read(path);
        if matches!(found, Ok(None)) {
            let name = self.display_name(path);
            let message = format!(
                "the file {name} does not exist, so no signature by a key of {} is verified; fetch it with `crawlpike update`",
                *entry.directory
            );
            self.own.warning_because(Some(Cause::UnfetchedKeys), position, "SIG-7", message);
            return Vec::new();
        }
        let Some(file) = self.must_be_there(path, position, found) else { return Vec::new() };
        let name = self.display_name(path);
        self.collect(&name, |diagnostics| keys::read(&file.bytes, diagnostics)).unwrap_or_default()
    }
}

/// The identifier of a directory; what has none is an error that [`Compiler::check_published_keys`] reports.
fn identifier(entry: &KeysConfig) -> Option<String> {
    let identifier = Identifier::of(entry.directory.as_bytes(), Reference::Any)?;
    String::from_utf8(identifier.to_vec()).ok()
}
