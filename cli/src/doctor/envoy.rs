//! The resource of Envoy is what the configuration makes now.

use std::fs;

use crawlpike_core::Compiled;

use super::finding::Finding;
use super::situation::Situation;
use crate::envoy::values;

pub(super) fn check(situation: &Situation) -> Vec<Finding> {
    let Some(path) = &situation.envoy else { return Vec::new() };
    let shown = path.display().to_string();
    let command = format!("crawlpike envoy --config {} --output {shown}", situation.argument());
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            return vec![Finding::fault(format!("cannot be read: {error}")).at(shown).remedy(command)];
        }
    };
    let Ok(Compiled { ruleset: Some(_), .. }) = &situation.compiled else {
        return vec![Finding::note("not compared, because the configuration cannot be compiled").at(shown)];
    };
    let is_current = values(&situation.config).iter().any(|value| text.contains(value.as_str()));
    // A document in YAML can be written in many ways.
    let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    if !is_current && is_yaml && !text.contains("BytesValue") {
        return vec![Finding::note("not compared, because it has the document in YAML").at(shown)];
    }
    let what = "Envoy's resource is not what the configuration and its files make now";
    let finding = Finding::fault(what).at(shown).remedy(format!("{command}; with --watch it stays current"));
    if is_current { Vec::new() } else { vec![finding] }
}
