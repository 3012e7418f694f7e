//! Several publishers asked at once, and their answers one after the other.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crawlpike_report::threads::start;

use crate::http::{Answer, Client, Query, Trouble};

/// The answer of a publisher, or the reason why there is none.
pub(super) type Fetched = Result<Answer, Trouble>;

/// The time between two checks for a request to stop.
const TICK: Duration = Duration::from_millis(100);

/// Asks for all, up to `jobs` at once, and calls `settle` with the number of each query and its answer, one at a time.
pub(super) fn ask_all(
    client: &Arc<Client>,
    queries: impl Iterator<Item = Query>,
    jobs: usize,
    stopped: &mut dyn FnMut() -> bool,
    mut settle: impl FnMut(usize, Fetched) -> Result<(), String>,
) -> Result<(), String> {
    let queue: VecDeque<(usize, Query)> = queries.enumerate().collect();
    let workers = jobs.min(queue.len());
    let queue = Arc::new(Mutex::new(queue));
    // Each worker waits until its answer is taken, so that few answers are in memory.
    let (sender, answers) = sync_channel(0);
    for number in 0..workers {
        let (client, queue, sender) = (Arc::clone(client), Arc::clone(&queue), sender.clone());
        match start(move || work(&client, &queue, &sender)) {
            Ok(_) => {}
            Err(error) if number == 0 => return Err(error.to_string()),
            // Those that have started ask for all.
            Err(_) => break,
        }
    }
    drop(sender);
    while !stopped() {
        match answers.recv_timeout(TICK) {
            Ok((number, fetched)) => settle(number, fetched)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(())
}

fn work(client: &Client, queue: &Mutex<VecDeque<(usize, Query)>>, sender: &SyncSender<(usize, Fetched)>) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some((number, query)) = next else { return };
        // A bug in a library must not cost the other feeds.
        let fetched = catch_unwind(AssertUnwindSafe(|| client.fetch(&query)));
        let fetched = fetched.unwrap_or_else(|_| Err(Trouble::answered("an internal error, which is a bug")));
        // Nobody waits after the round was stopped.
        if sender.send((number, fetched)).is_err() {
            return;
        }
    }
}
