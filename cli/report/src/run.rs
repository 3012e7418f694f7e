//! Reading logs with all cores.

use std::io::{self, Read, Write};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use crate::input::{self, Chunk, Chunks};
use crate::job::Job;
use crate::judge::Lane;
use crate::line::Fault;
use crate::model::{File, Report};

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
    /// If events cannot be written. Logs that cannot be read are in the report.
    pub fn run(&self, events: Option<&mut (dyn Write + Send)>) -> io::Result<Report> {
        thread::scope(|scope| {
            let (give_back, used) = channel();
            let mut workers = Vec::new();
            let mut written = Vec::new();
            let mut inputs = Vec::new();
            for _ in 0..self.threads.max(1) {
                let (input, work) = sync_channel(WAITING);
                let (output, lines) = sync_channel(WAITING);
                let give_back = give_back.clone();
                let lane = Lane::new(events.is_some());
                workers.push(scope.spawn(move || work_on(self, lane, &work, &give_back, &output)));
                inputs.push(input);
                written.push(lines);
            }
            let writer = events.map(|events| scope.spawn(move || write_all(events, &written)));
            let (files, is_partial) = self.feed(inputs, &used);
            let mut sum = Lane::new(false);
            for worker in workers {
                sum.merge(worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
            }
            if let Some(writer) = writer {
                writer.join().unwrap_or_else(|panic| panic::resume_unwind(panic))?;
            }
            Ok(Report::new(self, sum, files, is_partial))
        })
    }

    /// Reads the sources and gives each thread a chunk in turn. So what a thread counts does not depend on its speed. The flag
    /// is true if it was stopped before the end.
    fn feed(&self, inputs: Vec<SyncSender<Work>>, used: &Receiver<Vec<u8>>) -> (Vec<File>, bool) {
        let mut turn = inputs.iter().cycle();
        let mut files = Vec::new();
        for (number, source) in self.sources.iter().enumerate() {
            if self.stop.is_set() {
                return (files, true);
            }
            let read = Arc::new(AtomicU64::new(0));
            let mut file = File { name: source.name(), bytes: 0, lines: 0, error: None };
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
    output: &SyncSender<Vec<u8>>,
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
        if lane.events.as_mut().is_some_and(|events| output.send(std::mem::take(events)).is_err()) {
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
