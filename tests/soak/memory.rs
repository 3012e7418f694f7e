//! The memory of a server's processes over time.

use std::fmt;
use std::time::Instant;

use crawlpike_tests::proc::open_files;

use crate::gate::Gate;

/// The samples, from the first to the last.
#[derive(Default)]
pub(crate) struct Memory {
    samples: Vec<Sample>,
}

struct Sample {
    at: Instant,
    /// KiB, by the kind of process.
    resident: Vec<(&'static str, u64)>,
    /// Of the main process.
    files: usize,
}

/// More than this is growth, KiB: what an allocator keeps back varies with what was last compiled.
const SLACK: u64 = 8 * 1024;

impl Memory {
    pub(crate) fn sample(&mut self, gate: &dyn Gate) {
        self.samples.push(Sample {
            at: Instant::now(),
            resident: gate.memory(),
            files: open_files(gate.main_process()),
        });
    }

    /// The growth between the third quarter and the last, while all processes lived on.
    pub(crate) fn growth(&self) -> Vec<String> {
        let (count, quarter) = (self.samples.len(), self.samples.len() / 4);
        let (early, late) =
            (&self.samples[count - 2 * quarter..count - quarter], &self.samples[count - quarter..]);
        let kinds = self.samples.first().into_iter().flat_map(|sample| &sample.resident).enumerate();
        let grown = kinds.filter_map(|(kind, (name, _))| {
            let largest = |samples: &[Sample]| samples.iter().map(|sample| sample.resident[kind].1).max();
            let (early, late) = (largest(early)?, largest(late)?);
            (late > early + SLACK).then(|| format!("the {name} grew from {early} KiB to {late} KiB"))
        });
        grown.collect()
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.samples.first() else { return Ok(()) };
        write!(f, "| s |")?;
        first.resident.iter().try_for_each(|(name, _)| write!(f, " {name}, MiB |"))?;
        writeln!(f, " open files |\n|---|---|{}", "---|".repeat(first.resident.len()))?;
        for sample in &self.samples {
            write!(f, "| {} |", (sample.at - first.at).as_secs())?;
            sample.resident.iter().try_for_each(|(_, kib)| write!(f, " {:.1} |", *kib as f64 / 1024.0))?;
            writeln!(f, " {} |", sample.files)?;
        }
        Ok(())
    }
}
