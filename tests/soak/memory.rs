//! The memory of nginx's processes over time.

use std::fmt;
use std::time::Instant;

use crawlward_tests::proc::{memory, open_files};

use crate::scene::Scene;

/// What was seen, from the first sample to the last.
#[derive(Default)]
pub(crate) struct Memory {
    samples: Vec<Sample>,
}

struct Sample {
    at: Instant,
    /// KiB.
    master: u64,
    /// KiB, of the largest.
    worker: u64,
    /// Of the master.
    files: usize,
}

/// More than this is growth, KiB: what an allocator keeps back varies with what was last compiled.
const SLACK: u64 = 8 * 1024;

impl Memory {
    pub(crate) fn sample(&mut self, scene: &Scene) {
        self.samples.push(Sample {
            at: Instant::now(),
            master: memory(scene.master()).resident,
            worker: scene
                .workers()
                .into_iter()
                .map(|worker| memory(worker).resident)
                .max()
                .unwrap_or_default(),
            files: open_files(scene.master()),
        });
    }

    /// What grew between the second quarter and the last.
    pub(crate) fn growth(&self) -> Vec<String> {
        let quarter = self.samples.len() / 4;
        let largest =
            |samples: &[Sample], of: fn(&Sample) -> u64| samples.iter().map(of).max().unwrap_or_default();
        let mut grown = Vec::new();
        let mut compare = |name: &str, of: fn(&Sample) -> u64| {
            let early = largest(&self.samples[quarter..quarter * 2], of);
            let late = largest(&self.samples[self.samples.len() - quarter..], of);
            if quarter > 0 && late > early + SLACK {
                grown.push(format!("the {name} grew from {early} KiB to {late} KiB"));
            }
        };
        compare("master", |sample| sample.master);
        compare("worker", |sample| sample.worker);
        grown
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| s | master, MiB | largest worker, MiB | files open in the master |\n|---|---|---|---|"
        )?;
        let mib = |kib: u64| kib as f64 / 1024.0;
        for sample in &self.samples {
            let seconds = self.samples.first().map_or(0, |first| (sample.at - first.at).as_secs());
            writeln!(
                f,
                "| {seconds} | {:.1} | {:.1} | {} |",
                mib(sample.master),
                mib(sample.worker),
                sample.files
            )?;
        }
        Ok(())
    }
}
