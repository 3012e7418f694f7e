//! A description of a document of an unknown shape, for the message that refuses it.

use alloc::format;
use alloc::string::String;

use serde_json::value::RawValue;

use super::Reader;
use crate::feed::prefix::parse_prefix;
use crate::json::slices;
use crate::source::diagnostic::Strictness;
use crate::source::quoted::Quoted;

/// The number of keys that a message names.
const MOST_KEYS: usize = 8;
/// The number of steps of a guessed path.
const MOST_STEPS: usize = 8;
/// The number of items of each array that are looked at.
const MOST_ITEMS: usize = 3;

impl<S: Strictness> Reader<'_, '_, S> {
    /// Refuses a document, and says what was seen in it, and where its prefixes may be.
    pub(super) fn refuse_unknown(&mut self, document: &RawValue, problem: &str) -> Option<()> {
        let mut path = String::new();
        let advice = match path_to_prefix(document, &mut path, MOST_STEPS) {
            true => format!("if its prefixes are at `{path}`, set `shape` to this path"),
            false => "it has no prefixes".into(),
        };
        self.refuse(document, "JAFAR-20", &format!("{problem}: {}; {advice}", seen(document)))
    }
}

fn seen(document: &RawValue) -> String {
    let (mut keys, mut count) = (String::new(), 0);
    let _ = slices::each_member(document, &mut |name, _| {
        count += 1;
        name_key(&mut keys, count, &name);
        Some(())
    });
    match (document.get().as_bytes().first(), count) {
        (Some(b'['), _) => "an array".into(),
        (Some(b'{'), 0) => "an object without keys".into(),
        (Some(b'{'), 1..=MOST_KEYS) => format!("an object with the keys {keys}"),
        (Some(b'{'), _) => format!("an object with {count} keys, such as {keys}"),
        _ => "neither an object nor an array".into(),
    }
}

fn name_key(keys: &mut String, number: usize, name: &str) {
    if number <= MOST_KEYS {
        keys.push_str(if number == 1 { "" } else { ", " });
        keys.push_str(&format!("{}", Quoted(name)));
    }
}

/// Appends the path to the first prefix in a value, if there is one.
fn path_to_prefix(value: &RawValue, path: &mut String, steps: usize) -> bool {
    let mut is_found = false;
    match (value.get().as_bytes().first(), steps.checked_sub(1)) {
        (Some(b'"'), _) => is_found = slices::string(value).is_some_and(|text| parse_prefix(&text).is_ok()),
        (Some(b'['), Some(steps)) => {
            let mut items = 0;
            let _ = slices::each_element(value, &mut |item| {
                items += 1;
                is_found = step_to_prefix("[]", item, path, steps);
                (!is_found && items < MOST_ITEMS).then_some(())
            });
        }
        (Some(b'{'), Some(steps)) => {
            let _ = slices::each_member(value, &mut |name, member| {
                is_found = step_to_prefix(&name, member, path, steps);
                (!is_found).then_some(())
            });
        }
        _ => {}
    }
    is_found
}

/// The same for an item, or for a member with a name.
fn step_to_prefix(step: &str, value: &RawValue, path: &mut String, steps: usize) -> bool {
    let length = path.len();
    if step == "[]" {
        path.push_str(step);
    } else {
        path.push_str(if length == 0 { "" } else { "." });
        // A path cannot have such a name.
        path.push_str(if step.contains(['.', ',', '[', ']', '*', ' ']) { "*" } else { step });
    }
    let is_found = path_to_prefix(value, path, steps);
    if !is_found {
        path.truncate(length);
    }
    is_found
}
