//! What the directives set.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

use crawlward_core::Ruleset;
use crawlward_core::config::Mode;
use crawlward_core::diagnostic::Severity;
use crawlward_core::measures::{RecentSlots, ReloadResult};
use crawlward_core::typed_json::suggestion;
use crawlward_host::Origin;

use crate::nginx::{ComplexValue, Configuration, LogLevel, Place, Purpose, Timer, Zone, with_counters};
use crate::refresh::Refresh;

/// A ruleset with what belongs to it as long as it is in force.
#[derive(Debug)]
pub(crate) struct LoadedRuleset {
    ruleset: Ruleset,
    /// When it was loaded, in seconds since the Unix epoch.
    pub(crate) since: i64,
    /// Where this worker counts its decisions.
    pub(crate) recent: RecentSlots,
}

impl LoadedRuleset {
    fn new(ruleset: Ruleset) -> Self {
        Self { ruleset, since: crawlward_host::now(), recent: RecentSlots::default() }
    }
}

impl Deref for LoadedRuleset {
    type Target = Ruleset;

    fn deref(&self) -> &Ruleset {
        &self.ruleset
    }
}

/// The configuration of the `http` block.
#[derive(Debug, Default)]
pub(crate) struct MainConf {
    /// `None` without `crawlward_config`: then the module does nothing.
    ruleset: RefCell<Option<Rc<LoadedRuleset>>>,
    /// Where is counted; there is one with `crawlward_config`.
    pub(crate) zone: Option<Zone>,
    /// How the ruleset is made anew when its files change.
    pub(crate) refresh: Refresh,
    /// When it is.
    pub(crate) timer: Timer,
}

impl MainConf {
    /// The ruleset in force. A request takes it once, when it begins, and keeps it: numbers in a decision mean something
    /// only in the ruleset that made it.
    pub(crate) fn ruleset(&self) -> Option<Rc<LoadedRuleset>> {
        self.ruleset.borrow().clone()
    }

    /// Whether there is one, at all times: what replaces a ruleset is a ruleset.
    pub(crate) fn is_on(&self) -> bool {
        self.ruleset.borrow().is_some()
    }

    /// `crawlward_config FILE;`
    pub(crate) fn load(&mut self, configuration: &Configuration) -> Result<(), String> {
        let loaded = self.try_load(configuration);
        if loaded.is_err() {
            // Where a cycle is in service, it stays.
            with_counters(|counters| counters.count_reload(ReloadResult::Failure));
        }
        loaded
    }

    fn try_load(&mut self, configuration: &Configuration) -> Result<(), String> {
        if self.ruleset.get_mut().is_some() {
            return Err("\"crawlward_config\" is given twice: one document holds all sites".to_owned());
        }
        if Purpose::of_reading() == Purpose::Signal {
            return Ok(());
        }
        let path = configuration.file_argument().ok_or("out of memory")?;
        let unreadable = |error| format!("can't read {}: {error}", path.display());
        let mut origin = Origin::read(&path).map_err(unreadable)?;
        let loaded = LoadedRuleset::new(compile(&mut origin, configuration)?);
        *self.ruleset.get_mut() = Some(Rc::new(loaded));
        self.zone = Some(configuration.shared_zone().ok_or("out of memory")?);
        self.refresh.begin_with(origin);
        Ok(())
    }

    /// `crawlward_refresh TIME|off;`
    pub(crate) fn set_refresh(&mut self, configuration: &Configuration) -> Result<(), String> {
        const NAME: &str = "crawlward_refresh";
        // Oftener, a worker would do little else.
        const LEAST: u64 = 100;
        let argument = argument(configuration);
        let interval = if argument == "off" { Some(0) } else { configuration.time_argument() };
        let is_sensible = |interval: &u64| *interval == 0 || *interval >= LEAST;
        let known = "give a time from 100ms on, such as \"60s\", or \"off\"";
        let interval = interval.filter(is_sensible).ok_or_else(|| invalid(NAME, &argument, known))?;
        set_once(&mut self.refresh.interval, NAME, interval)
    }

    /// Puts another ruleset in force, for requests that begin from now on.
    pub(crate) fn replace(&self, ruleset: Ruleset) {
        self.ruleset.replace(Some(Rc::new(LoadedRuleset::new(ruleset))));
    }

    /// The number of a site that `crawlward_site` names.
    fn site(&self, name: &str) -> Result<u16, String> {
        let Some(ruleset) = self.ruleset() else {
            return Err(format!(
                "\"crawlward_site\" names the site `{name}` of a document, and there is no \"crawlward_config\""
            ));
        };
        ruleset.site(name).ok_or_else(|| {
            let suggestion = suggestion(name, ruleset.site_names());
            format!("\"crawlward_site\": no site is named `{name}`{suggestion}")
        })
    }
}

fn compile(origin: &mut Origin, configuration: &Configuration) -> Result<Ruleset, String> {
    let compiled = origin.compile();
    for diagnostic in &compiled.diagnostics {
        match diagnostic.severity {
            Severity::Error => configuration.error(&diagnostic.to_string()),
            Severity::Warning => configuration.warn(&diagnostic.to_string()),
        }
    }
    if compiled.ruleset.is_some()
        && Purpose::of_reading() == Purpose::Serve
        && let Err(error) = origin.keep(compiled.good_feeds)
    {
        configuration.warn(&format!(
            "{error}: a feed that is broken at the next reload will have no last good version"
        ));
    }
    compiled
        .ruleset
        .ok_or_else(|| format!("{} is refused, see above; mend it and check with nginx -t", origin.name()))
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
    /// Of a denial; `None`: that of the decision.
    pub(crate) deny_status: Option<u16>,
    /// Of the line that a denial writes to the error log; `None`: an error.
    pub(crate) log_level: Option<LogLevel>,
    /// As the directive names it, and where. The document may be read after it.
    site_name: Option<(String, Place)>,
    /// The number of the site that counts whatever the host, found when the levels are merged. It holds for every
    /// ruleset until the next reload, for all are made of one document.
    pub(crate) site: Option<u16>,
    /// Where `crawlward_status` stands.
    status: Option<Place>,
}

impl LocationConf {
    /// `crawlward off|observe|enforce|$variable;`
    pub(crate) fn set_mode(&mut self, configuration: &Configuration) -> Result<(), String> {
        if !matches!(self.mode, ModeSource::Inherited) {
            return Err(given_twice("crawlward"));
        }
        let argument = argument(configuration);
        self.mode = if argument.contains('$') {
            ModeSource::Variable(
                configuration.complex_value().ok_or_else(|| format!("invalid value \"{argument}\""))?,
            )
        } else {
            let mode = Mode::from_word(&argument);
            let known = "give \"off\", \"observe\", \"enforce\" or a variable";
            ModeSource::Fixed(mode.ok_or_else(|| invalid("crawlward", &argument, known))?)
        };
        Ok(())
    }

    /// `crawlward_deny_status CODE;`
    pub(crate) fn set_deny_status(&mut self, configuration: &Configuration) -> Result<(), String> {
        const NAME: &str = "crawlward_deny_status";
        let argument = argument(configuration);
        let is_number = argument.bytes().all(|byte| byte.is_ascii_digit());
        let status = argument.parse().ok().filter(|status| is_number && (400..=599).contains(status));
        let status = status.ok_or_else(|| invalid(NAME, &argument, "give a status from 400 to 599"))?;
        set_once(&mut self.deny_status, NAME, status)
    }

    /// `crawlward_log_level info|notice|warn|error;`
    pub(crate) fn set_log_level(&mut self, configuration: &Configuration) -> Result<(), String> {
        const NAME: &str = "crawlward_log_level";
        let argument = argument(configuration);
        let known = "give \"info\", \"notice\", \"warn\" or \"error\"";
        let level = LogLevel::from_word(&argument).ok_or_else(|| invalid(NAME, &argument, known))?;
        set_once(&mut self.log_level, NAME, level)
    }

    /// `crawlward_site NAME;`
    pub(crate) fn set_site(&mut self, configuration: &Configuration) -> Result<(), String> {
        let named = (argument(configuration), configuration.place());
        set_once(&mut self.site_name, "crawlward_site", named)
    }

    /// `crawlward_status;`
    pub(crate) fn set_status(&mut self, configuration: &Configuration) -> Result<(), String> {
        set_once(&mut self.status, "crawlward_status", configuration.place())?;
        configuration.set_status_handler();
        Ok(())
    }

    /// Takes from the level above what this one does not say, and finds its site, now that all is read.
    pub(crate) fn inherit(&mut self, outer: &Self, main: &MainConf) -> Result<(), (String, Place)> {
        // For a signal the document was not read.
        if Purpose::of_reading() == Purpose::Signal {
            return Ok(());
        }
        if let Some(place) = &self.status {
            if !main.is_on() {
                let why = "\"crawlward_status\" has nothing to show: there is no \"crawlward_config\"";
                return Err((why.to_owned(), place.clone()));
            }
            // What reads the measures is automation, and no visitor of the site.
            if matches!(self.mode, ModeSource::Inherited) {
                self.mode = ModeSource::Fixed(Mode::Off);
            }
        }
        if matches!(self.mode, ModeSource::Inherited) {
            self.mode = outer.mode;
        }
        self.deny_status = self.deny_status.or(outer.deny_status);
        self.log_level = self.log_level.or(outer.log_level);
        self.site = match &self.site_name {
            None => outer.site,
            Some((name, place)) => Some(main.site(name).map_err(|why| (why, place.clone()))?),
        };
        Ok(())
    }
}

fn argument(configuration: &Configuration) -> String {
    String::from_utf8_lossy(configuration.argument()).into_owned()
}

fn set_once<T>(slot: &mut Option<T>, name: &str, value: T) -> Result<(), String> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(given_twice(name)),
    }
}

fn given_twice(name: &str) -> String {
    format!("\"{name}\" is given twice at one level")
}

fn invalid(name: &str, argument: &str, known: &str) -> String {
    format!("invalid value \"{argument}\" of \"{name}\": {known}")
}
