//! The configuration of the `http` block.

use std::io;
use std::time::Duration;

use crawlpike_core::{Compiled, Diagnostic, Ruleset, Severity};
use crawlpike_files::{Audience, Origin, User};

use super::{Usage, duplicate, invalid, set_once};
use crate::nginx::{Configuration, Purpose, WorkerUser, beside_the_heap, trim};
use crate::refresh::Refresh;
use crate::ruleset::InForce;

/// The shortest interval of `crawlpike_refresh`. With a shorter one, a worker would do little else.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);

/// The configuration of the `http` block.
#[derive(Debug, Default)]
pub(crate) struct MainConf {
    /// Empty without `crawlpike_config`: then the module does nothing.
    pub(crate) ruleset: InForce,
    pub(crate) refresh: Refresh,
    /// The value of `crawlpike_document_memory`, in bytes. `None`: that of the document.
    pub(crate) document_memory: Option<usize>,
    /// The places of the directives that may turn out to have no effect.
    pub(crate) usage: Usage,
}

impl MainConf {
    /// `crawlpike_config FILE;`
    pub(crate) fn load(&mut self, configuration: &Configuration<'_>) -> Result<(), String> {
        if !self.ruleset.is_empty() {
            return Err(duplicate("crawlpike_config"));
        }
        // An operator who stops a server need not wait for a ruleset, nor correct one.
        if configuration.purpose() == Purpose::Signal {
            return Ok(());
        }
        let path = configuration.file_argument().ok_or("out of memory")?;
        let since = crawlpike_files::now();
        // The master may read more than its workers: what they serve has to be readable for them.
        let worker =
            configuration.worker_user().map(|WorkerUser { name, uid, gids }| User { name, uid, gids });
        let compiled = beside_the_heap(|| {
            let mut origin = Origin::read(&path)?;
            if let Some(worker) = &worker {
                origin = origin.readable_by(Audience::User(worker.clone()));
            }
            let compiled = origin.compile();
            Ok((origin, compiled))
        });
        let unreadable = |error: io::Error| format!("cannot read {}: {error}", path.display());
        let (mut origin, compiled) =
            compiled.map_err(|panic| format!("internal error: {panic}"))?.map_err(unreadable)?;
        self.ruleset.set(usable(compiled, &mut origin, configuration)?, since);
        self.refresh.start_from(origin);
        trim();
        Ok(())
    }

    /// `crawlpike_refresh TIME|off;`
    pub(crate) fn set_refresh(&mut self, configuration: &Configuration<'_>) -> Result<(), String> {
        const NAME: &str = "crawlpike_refresh";
        let argument = configuration.argument();
        let interval = match &*argument {
            "off" => None,
            _ => {
                let is_valid = |time: &Duration| time.is_zero() || *time >= SHORTEST_INTERVAL;
                let time = configuration.time_argument().filter(is_valid);
                let time = time.ok_or_else(|| invalid(NAME, &argument, "at least \"100ms\", or \"off\""))?;
                Some(time).filter(|time| !time.is_zero())
            }
        };
        set_once(&mut self.refresh.interval, NAME, interval)
    }

    /// `crawlpike_document_memory SIZE;`
    pub(crate) fn set_document_memory(&mut self, configuration: &Configuration<'_>) -> Result<(), String> {
        const NAME: &str = "crawlpike_document_memory";
        let size = configuration.size_argument();
        let size = size.ok_or_else(|| invalid(NAME, &configuration.argument(), "a size such as \"64m\""))?;
        set_once(&mut self.document_memory, NAME, size)
    }
}

/// The ruleset, if it can be used. Logs what is wrong with it.
fn usable(
    compiled: Compiled,
    origin: &mut Origin,
    configuration: &Configuration<'_>,
) -> Result<Ruleset, String> {
    for diagnostic in Diagnostic::by_cause(&compiled.diagnostics) {
        match diagnostic.severity {
            Severity::Error => configuration.error(&diagnostic.to_string()),
            Severity::Warning => configuration.warn(&diagnostic.to_string()),
        }
    }
    if compiled.ruleset.is_some()
        && configuration.purpose() == Purpose::Serve
        && let Err(error) = origin.keep(compiled.good_feeds)
    {
        configuration
            .warn(&format!("{error}; a feed that breaks before the next reload has no last good version"));
    }
    compiled.ruleset.ok_or_else(|| format!("{} is invalid, see the errors above", origin.name()))
}
