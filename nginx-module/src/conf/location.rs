//! The configuration of an `http`, `server` or `location` block.

use std::time::Duration;

use crawlpike_core::{Mode, Ruleset, SiteId, suggestion};

use super::{MainConf, duplicate, invalid, set_once};
use crate::nginx::{ComplexValue, Configuration, LogLevel, Merge, MergeConfigError, Position, Purpose};

/// The longest time of `crawlpike_rdns`. A client that waits longer has given up.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The source of the mode of a location.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum ModeSource<'c> {
    /// From the block around it, and if none sets it from the document.
    #[default]
    Inherited,
    /// From the directive.
    Fixed(Mode),
    /// From the directive's variable, for each request.
    Variable(ComplexValue<'c>),
}

/// The configuration of an `http`, `server` or `location` block.
#[derive(Debug, Default)]
pub(crate) struct LocationConf<'c> {
    pub(crate) mode: ModeSource<'c>,
    /// The status of a denial. `None`: that of the decision.
    pub(crate) deny_status: Option<u16>,
    log_level: Option<LogLevel>,
    /// The name in the directive, and where that is. nginx may read the document after it.
    site_name: Option<(String, Position)>,
    /// The number of that site. It holds for every ruleset until the next reload, because all are made of one document.
    pub(crate) site: Option<SiteId>,
    /// The time that a request waits for the name of its client's address, and its directive. The inner `None`: it never waits.
    rdns: Option<(Option<Duration>, Position)>,
    /// True if there is a `crawlpike_status`.
    status: Option<()>,
    /// The value of `crawlpike_trust_header`, and its directive.
    trust_header: Option<(bool, Position)>,
}

impl<'c> LocationConf<'c> {
    /// The level of the line that a denial writes to the error log. `None`: that of errors, and not each denial writes one.
    pub(crate) fn log_level(&self) -> Option<LogLevel> {
        self.log_level
    }

    /// `crawlpike off|observe|enforce|$variable;`
    pub(crate) fn set_mode(&mut self, configuration: &Configuration<'c>) -> Result<(), String> {
        const NAME: &str = "crawlpike";
        const VALID: &str = "\"off\", \"observe\", \"enforce\" or a variable";
        if !matches!(self.mode, ModeSource::Inherited) {
            return Err(duplicate(NAME));
        }
        let argument = configuration.argument();
        let mode = match argument.contains('$') {
            true => configuration.complex_value().map(ModeSource::Variable),
            false => Mode::from_word(&argument).map(ModeSource::Fixed),
        };
        self.mode = mode.ok_or_else(|| invalid(NAME, &argument, VALID))?;
        Ok(())
    }

    /// `crawlpike_deny_status CODE;`
    pub(crate) fn set_deny_status(&mut self, configuration: &Configuration<'c>) -> Result<(), String> {
        const NAME: &str = "crawlpike_deny_status";
        let argument = configuration.argument();
        let is_number = argument.bytes().all(|byte| byte.is_ascii_digit());
        let status = argument.parse().ok().filter(|status| is_number && (400..=599).contains(status));
        let status = status.ok_or_else(|| invalid(NAME, &argument, "a status from 400 to 599"))?;
        set_once(&mut self.deny_status, NAME, status)
    }

    /// `crawlpike_log_level info|notice|warn|error;`
    pub(crate) fn set_log_level(&mut self, configuration: &Configuration<'c>) -> Result<(), String> {
        const NAME: &str = "crawlpike_log_level";
        const VALID: &str = "\"info\", \"notice\", \"warn\" or \"error\"";
        let argument = configuration.argument();
        let level = LogLevel::from_word(&argument).ok_or_else(|| invalid(NAME, &argument, VALID))?;
        set_once(&mut self.log_level, NAME, level)
    }

    /// `crawlpike_site NAME;`
    pub(crate) fn set_site(&mut self, configuration: &Configuration<'c>) -> Result<(), String> {
        let named = (configuration.argument().into_owned(), configuration.position());
        set_once(&mut self.site_name, "crawlpike_site", named)
    }

    /// `crawlpike_rdns TIME|off;`
    pub(crate) fn set_rdns(&mut self, configuration: &Configuration<'c>) -> Result<(), String> {
        const NAME: &str = "crawlpike_rdns";
        let argument = configuration.argument();
        let time = match &*argument {
            "off" => None,
            _ => {
                let time = configuration.time_argument().filter(|time| *time <= LONGEST_WAIT);
                let time = time.ok_or_else(|| invalid(NAME, &argument, "at most \"10s\", or \"off\""))?;
                Some(time).filter(|time| !time.is_zero())
            }
        };
        set_once(&mut self.rdns, NAME, (time, configuration.position()))
    }

    /// The time that a request waits for the name of its client's address, if it does.
    pub(crate) fn rdns(&self) -> Option<Duration> {
        self.rdns.as_ref().and_then(|(time, _)| *time)
    }

    /// `crawlpike_status;`
    pub(crate) fn set_status(&mut self) -> Result<(), String> {
        set_once(&mut self.status, "crawlpike_status", ())
    }

    /// `crawlpike_trust_header on|off;`
    pub(crate) fn set_trust_header(&mut self, configuration: &Configuration<'c>) -> Result<(), String> {
        const NAME: &str = "crawlpike_trust_header";
        let argument = configuration.argument();
        let is_on = match &*argument {
            "on" => true,
            "off" => false,
            _ => return Err(invalid(NAME, &argument, "\"on\" or \"off\"")),
        };
        set_once(&mut self.trust_header, NAME, (is_on, configuration.position()))
    }

    /// Returns true if an `X-Crawlpike` from outside stays where the mode is `off`.
    pub(crate) fn trusts_header(&self) -> bool {
        self.trust_header.as_ref().is_some_and(|(is_on, _)| *is_on)
    }

    /// Returns true if an `X-Crawlpike` from outside stays, whatever the request.
    pub(crate) fn always_trusts_header(&self) -> bool {
        self.trusts_header() && matches!(self.mode, ModeSource::Fixed(Mode::Off))
    }

    /// Checks the configuration against the document, and finds the site in it.
    pub(crate) fn check(
        &mut self,
        main: &MainConf,
        configuration: &Configuration<'c>,
    ) -> Result<(), (Position, String)> {
        // For a signal, the document is not read.
        if configuration.purpose() == Purpose::Signal {
            return Ok(());
        }
        // Without a document, the module does nothing. A warning says so.
        let Some(ruleset) = main.ruleset.get() else { return Ok(()) };
        if let Some((name, position)) = &self.site_name {
            self.site = Some(site(name, &ruleset).map_err(|message| (position.clone(), message))?);
        }
        if let Some((Some(_), position)) = &self.rdns {
            if !configuration.has_resolver() {
                let message = "\"crawlpike_rdns\" directive requires a \"resolver\" in the same block or an enclosing one";
                return Err((position.clone(), message.to_owned()));
            }
            main.usage.note_lookups();
        }
        if let Some((true, position)) = &self.trust_header {
            let may_be_off = match self.mode {
                ModeSource::Inherited => ruleset.may_be_off(),
                ModeSource::Fixed(mode) => mode == Mode::Off,
                ModeSource::Variable(_) => true,
            };
            main.usage.note_trusted(position, may_be_off);
        }
        Ok(())
    }
}

fn site(name: &str, ruleset: &Ruleset) -> Result<SiteId, String> {
    ruleset.site(name).ok_or_else(|| {
        let suggestion = suggestion(name, ruleset.site_names());
        format!("unknown site `{name}` in \"crawlpike_site\" directive{suggestion}")
    })
}

impl Merge for LocationConf<'_> {
    fn merge(&mut self, outer: &Self) -> Result<(), MergeConfigError> {
        if matches!(self.mode, ModeSource::Inherited) {
            // A client that reads the metrics is automation, and not a visitor of the site.
            self.mode = if self.status.is_some() { ModeSource::Fixed(Mode::Off) } else { outer.mode };
        }
        self.deny_status = self.deny_status.or(outer.deny_status);
        self.log_level = self.log_level.or(outer.log_level);
        self.site = outer.site;
        self.rdns = self.rdns.take().or_else(|| outer.rdns.clone());
        self.trust_header = self.trust_header.take().or_else(|| outer.trust_header.clone());
        Ok(())
    }
}
