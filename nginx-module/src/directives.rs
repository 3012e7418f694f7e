//! What the directives set.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use crawlward_core::Ruleset;
use crawlward_core::config::Mode;
use crawlward_core::diagnostic::Severity;
use crawlward_host::FilesBeside;

use crate::nginx::{ComplexValue, Configuration, is_config_test};

/// The configuration of the `http` block.
#[derive(Debug, Default)]
pub(crate) struct MainConf {
    /// `None` without `crawlward_config`: then the module does nothing.
    ruleset: RefCell<Option<Rc<Ruleset>>>,
}

impl MainConf {
    /// The ruleset in force. A request takes it once, when it begins, and keeps it: numbers in a decision mean something
    /// only in the ruleset that made it.
    pub(crate) fn ruleset(&self) -> Option<Rc<Ruleset>> {
        self.ruleset.borrow().clone()
    }

    /// Whether there is one, at all times: what replaces a ruleset is a ruleset.
    pub(crate) fn is_on(&self) -> bool {
        self.ruleset.borrow().is_some()
    }

    /// `crawlward_config FILE;`
    pub(crate) fn load(&mut self, configuration: &Configuration) -> Result<(), String> {
        if self.ruleset.get_mut().is_some() {
            return Err("\"crawlward_config\" is given twice: one document holds all sites".to_owned());
        }
        let path = configuration.file_argument().ok_or("out of memory")?;
        *self.ruleset.get_mut() = Some(Rc::new(compile(&path, configuration)?));
        Ok(())
    }
}

fn compile(path: &Path, configuration: &Configuration) -> Result<Ruleset, String> {
    let files = FilesBeside::new(path);
    let compiled = crawlward_host::compile(path, &files)
        .map_err(|error| format!("can't read {}: {error}", path.display()))?;
    for diagnostic in &compiled.diagnostics {
        match diagnostic.severity {
            Severity::Error => configuration.error(&diagnostic.to_string()),
            Severity::Warning => configuration.warn(&diagnostic.to_string()),
        }
    }
    if compiled.ruleset.is_some()
        && !is_config_test()
        && let Err(error) = files.keep(&compiled)
    {
        configuration.warn(&format!("{error}: a feed that breaks will have no last good version"));
    }
    compiled
        .ruleset
        .ok_or_else(|| format!("{} is refused, see above; mend it and check with nginx -t", path.display()))
}

/// Where the mode of a location comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum ModeSource {
    /// From the level above, and at last from the document.
    #[default]
    Inherited,
    /// From the directive.
    Fixed(Mode),
    /// From the directive's variable, a request at a time.
    Variable(ComplexValue),
}

/// The configuration of an `http`, `server` or `location` block.
#[derive(Debug, Default)]
pub(crate) struct LocationConf {
    pub(crate) mode: ModeSource,
}

impl LocationConf {
    /// `crawlward off|observe|enforce|$variable;`
    pub(crate) fn set_mode(&mut self, configuration: &Configuration) -> Result<(), String> {
        if !matches!(self.mode, ModeSource::Inherited) {
            return Err("\"crawlward\" is given twice at one level".to_owned());
        }
        let argument = String::from_utf8_lossy(configuration.argument()).into_owned();
        self.mode = if argument.contains('$') {
            ModeSource::Variable(
                configuration.complex_value().ok_or_else(|| format!("invalid value \"{argument}\""))?,
            )
        } else {
            let mode = Mode::from_word(&argument);
            let known = "give \"off\", \"observe\", \"enforce\" or a variable";
            ModeSource::Fixed(
                mode.ok_or_else(|| format!("invalid value \"{argument}\" of \"crawlward\": {known}"))?,
            )
        };
        Ok(())
    }

    /// Takes from the level above what this one does not say.
    pub(crate) fn inherit(&mut self, outer: &Self) {
        if matches!(self.mode, ModeSource::Inherited) {
            self.mode = outer.mode;
        }
    }
}
