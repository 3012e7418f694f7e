//! Reading logs with all cores.

use std::io::{self, Read, Write};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use crate::input::{self, Chunk, Chunks, Source};
use crate::job::Job;
use crate::judge::{InOrder, Lane};
use crate::limit::{Replay, Replayed};
use crate::line::Fault;
use crate::model::{File, Report};
use crate::threads::start_in;

/// The number of chunks that wait for a thread.
const WAITING: usize = 2;

/// The number of a source, and a chunk of it.
type Work = (usize, Chunk);

impl Job<'_, '_> {
    /// Reads all logs and reports what the configuration would have done. Writes the events to `events`, in the order of
    /// the logs.
    ///
    /// # Errors
    ///
    /// If events cannot be written, or no thread can be started. Logs that cannot be read are in the report.
    pub fn run(&self, events: Option<&mut (dyn Write + Send)>) -> io::Result<Report> {
        thread::scope(|scope| {
            let (give_back, used) = channel();
            let mut workers = Vec::new();
            let mut outputs = Vec::new();
            let mut inputs = Vec::new();
            for _ in 0..self.threads.max(1) {
                let (input, work) = sync_channel(WAITING);
                let (output, lines) = sync_channel(WAITING);
                let give_back = give_back.clone();
                let lane = Lane::new(events.is_some());
                workers.push(start_in(scope, move || work_on(self, lane, &work, &give_back, &output))?);
                inputs.push(input);
                outputs.push(lines);
            }
            let replay = Replay::new(&self.options.limits);
            let in_order = start_in(scope, move || take_in_order(events, replay, &outputs))?;
            let (files, is_partial) = self.feed(inputs, &used);
            let mut sum = Lane::new(false);
            for worker in workers {
                sum.merge(worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
            }
            let replayed = in_order.join().unwrap_or_else(|panic| panic::resume_unwind(panic))?;
            Ok(Report::new(self, sum, replayed, files, is_partial))
        })
    }

    /// Reads the sources and gives each thread a chunk in turn. So what a thread counts does not depend on its speed. The flag
    /// is true if it was stopped before the end.
    fn feed(&self, inputs: Vec<SyncSender<Work>>, used: &Receiver<Vec<u8>>) -> (Vec<File>, bool) {
        let mut turn = inputs.iter().cycle();
        let mut files = Vec::new();
        for (number, source) in self.sources_in_order().into_iter().enumerate() {
            if self.stop.is_set() {
                return (files, true);
            }
            let read = Arc::new(AtomicU64::new(0));
            let mut file =
                File { name: source.name(), bytes: 0, lines: 0, same_as: source.same_as(), error: None };
            match input::open(source, Arc::clone(&read), self.stop.clone()) {
                Ok(log) => {
                    let mut chunks = Chunks::new(log);
                    while let Some(mut chunk) = next(&mut chunks, used, &mut file) {
                        if self.stop.is_set() {
                            // The line in which the reading ended counts for nothing.
                            let whole = memchr::memrchr(b'\n', &chunk.bytes).map_or(0, |end| end + 1);
                            chunk.bytes.truncate(whole);
                        }
                        // Nobody takes it if the events cannot be written, and that is reported.
                        if turn.next().is_none_or(|input| input.send((number, chunk)).is_err()) {
                            return (files, false);
                        }
                    }
                    file.lines = chunks.lines();
                    if self.stop.is_set() {
                        // A compressed file ends too soon then.
                        file.error = None;
                    }
                }
                Err(error) => file.error = Some(error.to_string()),
            }
            file.bytes = read.load(Ordering::Relaxed);
            files.push(file);
        }
        (files, self.stop.is_set())
    }

    /// The sources; for limits, by their first times, since the names of rotated logs may be in any order.
    fn sources_in_order(&self) -> Vec<&Source> {
        let mut sources: Vec<&Source> = self.sources.iter().collect();
        if !self.options.limits.is_empty() {
            sources.sort_by_cached_key(|source| self.first_time(source));
        }
        sources
    }

    /// The time of the first request in the first chunk of a regular file; a pipe can be read only once.
    fn first_time(&self, source: &Source) -> Option<i64> {
        if !source.is_regular() {
            return None;
        }
        let log = input::open(source, Arc::default(), self.stop.clone()).ok()?;
        let chunk = Chunks::new(log).next(Vec::new()).ok()??;
        chunk.bytes.split(|byte| *byte == b'\n').find_map(|line| self.reader.read(line).ok()?.time)
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
            // The lines before the error count.
            Err(error) => file.error = Some(error.to_string()),
        }
    }
}

/// Judges chunks until there are no more.
fn work_on<'r>(
    job: &Job<'r, '_>,
    mut lane: Lane<'r>,
    work: &Receiver<Work>,
    give_back: &Sender<Vec<u8>>,
    output: &SyncSender<InOrder>,
) -> Lane<'r> {
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
            job.judge_line(&bytes[start..end], source, number, &mut lane);
            start = end + 1;
        }
        // If nobody reads any more, the memory goes.
        let _ = give_back.send(bytes);
        if output.send(lane.take_in_order()).is_err() {
            break;
        }
    }
    lane
}

/// Writes the events and passes the requests through the limits, in the order in which the threads got their chunks.
fn take_in_order(
    mut events: Option<&mut (dyn Write + Send)>,
    mut replay: Replay<'_>,
    outputs: &[Receiver<InOrder>],
) -> io::Result<Replayed> {
    // The first one that has no more is the end: it would have got the next chunk.
    for output in outputs.iter().cycle() {
        let Ok(InOrder { events: lines, passages }) = output.recv() else { break };
        if let Some(events) = &mut events {
            events.write_all(&lines)?;
        }
        passages.into_iter().for_each(|passage| replay.add(passage));
    }
    events.map_or(Ok(()), Write::flush)?;
    Ok(replay.finish())
}
