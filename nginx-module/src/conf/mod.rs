//! The values that the directives set.

mod location;
mod main;
mod usage;

pub(crate) use location::{LocationConf, ModeSource};
pub(crate) use main::MainConf;
pub(crate) use usage::Usage;

/// Sets what a directive says, which is said once in a block.
fn set_once<T>(slot: &mut Option<T>, name: &str, value: T) -> Result<(), String> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(duplicate(name)),
    }
}

fn duplicate(name: &str) -> String {
    format!("\"{name}\" directive is duplicate")
}

fn invalid(name: &str, value: &str, valid: &str) -> String {
    format!("invalid value \"{value}\" in \"{name}\" directive, it must be {valid}")
}
