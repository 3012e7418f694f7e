//! Reading logs with all cores.

use std::io::{self, Read, Write};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use crawlpike_core::Ruleset;

use crate::input::{self, Chunk, Chunks, Source};
use crate::judge::{Judge, Lane, Options};
use crate::line::{Fault, LineReader};
use crate::model::{File, Report};

/// How many chunks wait for a thread.
const WAITING: usize = 2;

/// What a report is made of.
#[derive(Debug)]
pub struct Job<'r, 'o> {
    /// The configuration.
    pub ruleset: &'r Ruleset,
    /// Another one, to be compared with it.
    pub other: Option<&'r Ruleset>,
    /// Reads the lines.
    pub reader: &'o LineReader,
    /// Which requests count.
    pub options: &'o Options,
    /// The logs, in the order in which they are read.
    pub sources: &'o [Source],
    /// The time, in seconds since the Unix epoch: feeds are judged as they are then.
    pub now: i64,
    /// How many threads judge lines.
    pub threads: usize,
}

/// How far the reading has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The bytes of files that have been read, as they are on disk.
    pub read: u64,
    /// The file that is being read.
    pub source: &'a Source,
}

/// The number of a source, and a chunk of it.
type Work = (usize, Chunk);

impl Job<'_, '_> {
    /// Reads all logs and reports what the configuration would have done. Writes the events to `events`, in the order of
    /// the logs. Calls `progress` for each chunk.
    ///
    /// # Errors
    ///
    /// If events cannot be written. Logs that cannot be read are in the report.
    pub fn run(
        &self,
        events: Option<&mut (dyn Write + Send)>,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> io::Result<Report> {
        let judge = Judge {
            ruleset: self.ruleset,
            other: self.other,
            reader: self.reader,
            options: self.options,
            now: self.now,
            writes_events: events.is_some(),
        };
        let judge = &judge;
        thread::scope(|scope| {
            let (give_back, used) = channel();
            let mut workers = Vec::new();
            let mut written = Vec::new();
            let mut inputs = Vec::new();
            for _ in 0..self.threads.max(1) {
                let (input, work) = sync_channel(WAITING);
                let (output, lines) = sync_channel(WAITING);
                let give_back = give_back.clone();
                workers.push(scope.spawn(move || work_on(judge, &work, &give_back, &output)));
                inputs.push(input);
                written.push(lines);
            }
            let writer = events.map(|events| scope.spawn(move || write_all(events, &written)));
            let files = self.feed(inputs, &used, progress);
            let mut sum = Lane::new();
            for worker in workers {
                sum.merge(worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
            }
            if let Some(writer) = writer {
                writer.join().unwrap_or_else(|panic| panic::resume_unwind(panic))?;
            }
            Ok(Report::new(self, sum, files))
        })
    }

    /// Reads the sources and gives each thread a chunk in turn. So what a thread counts does not depend on its speed.
    fn feed(
        &self,
        inputs: Vec<SyncSender<Work>>,
        used: &Receiver<Vec<u8>>,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Vec<File> {
        let mut turn = inputs.iter().cycle();
        let read = Arc::new(AtomicU64::new(0));
        let mut files = Vec::new();
        for (number, source) in self.sources.iter().enumerate() {
            let before = read.load(Ordering::Relaxed);
            let mut file = File { name: source.name(), bytes: 0, lines: 0, error: None };
            match input::open(source, Arc::clone(&read)) {
                Ok(log) => {
                    let mut chunks = Chunks::new(log);
                    while let Some(chunk) = next(&mut chunks, used, &mut file) {
                        // Nobody takes it if the events cannot be written, and that is reported.
                        if turn.next().is_none_or(|input| input.send((number, chunk)).is_err()) {
                            return files;
                        }
                        progress(Progress { read: read.load(Ordering::Relaxed), source });
                    }
                    file.lines = chunks.lines();
                }
                Err(error) => file.error = Some(error.to_string()),
            }
            file.bytes = read.load(Ordering::Relaxed) - before;
            files.push(file);
        }
        files
    }
}

fn next(
    chunks: &mut Chunks<Box<dyn Read + Send>>,
    used: &Receiver<Vec<u8>>,
    file: &mut File,
) -> Option<Chunk> {
    loop {
        match chunks.next(used.try_recv().unwrap_or_default()) {
            Ok(chunk) => return chunk,
            // What was read before counts.
            Err(error) => file.error = Some(error.to_string()),
        }
    }
}

/// Judges chunks until there are no more.
fn work_on<'r>(
    judge: &Judge<'r, '_>,
    work: &Receiver<Work>,
    give_back: &Sender<Vec<u8>>,
    output: &SyncSender<Vec<u8>>,
) -> Lane<'r> {
    let mut lane = Lane::new();
    for (source, Chunk { bytes, lines_before, too_long }) in work {
        for back in 0..too_long {
            lane.tally.lines += 1;
            lane.reject(source, lines_before - back, Fault::TooLong);
        }
        let mut start = 0;
        let mut number = lines_before;
        while start < bytes.len() {
            let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
            number += 1;
            judge.line(&bytes[start..end], source, number, &mut lane);
            start = end + 1;
        }
        // If nobody reads any more, the memory goes.
        let _ = give_back.send(bytes);
        if judge.writes_events && output.send(std::mem::take(&mut lane.events)).is_err() {
            break;
        }
    }
    lane
}

/// Writes what the threads give, in the order in which they got their chunks.
fn write_all(output: &mut (dyn Write + Send), lines: &[Receiver<Vec<u8>>]) -> io::Result<()> {
    // The first one that has no more is the end: it would have got the next chunk.
    for lines in lines.iter().cycle() {
        match lines.recv() {
            Ok(lines) => output.write_all(&lines)?,
            Err(_) => break,
        }
    }
    output.flush()
}
