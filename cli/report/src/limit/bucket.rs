//! The leaky buckets of nginx's `limit_req`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use hashbrown::HashMap;

use super::Limit;

/// The state of a key, as nginx keeps it.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// In thousandths of a request.
    excess: i64,
    /// In milliseconds.
    last: i64,
}

impl Bucket {
    /// The time at which it has run empty, so that it answers as a new one does.
    fn empty_at(self, limit: &Limit) -> i64 {
        self.last.saturating_add(((self.excess + 1000) * 1000 + limit.rate - 1) / limit.rate)
    }
}

/// The buckets of a limit, by their keys. When there are too many, one that has run empty is forgotten for each new one.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    of_keys: HashMap<u64, Bucket>,
    /// The keys of all, with the times at which they would have run empty without further requests.
    by_end: BinaryHeap<Reverse<(i64, u64)>>,
    /// Requests that passed because there were too many keys at once.
    pub(super) untracked: u64,
}

impl Buckets {
    /// The largest number of keys at once.
    pub(super) const MOST: usize = 1 << 19;

    /// Returns true if the limit lets a request pass: the excess of its key is within the burst.
    pub(super) fn admits(&mut self, limit: &Limit, key: u64, now: i64) -> bool {
        let Some(bucket) = self.of_keys.get_mut(&key) else {
            self.add(limit, key, now);
            return true;
        };
        // nginx takes a clock that jumps back by more than a minute for one that was set.
        let elapsed = match now - bucket.last {
            ..-60_000 => 1,
            elapsed => elapsed.max(0),
        };
        let excess = (bucket.excess - drained(limit, elapsed) + 1000).max(0);
        if excess > limit.burst {
            return false;
        }
        bucket.excess = excess;
        if elapsed > 0 {
            bucket.last = now;
        }
        true
    }

    fn add(&mut self, limit: &Limit, key: u64, now: i64) {
        if self.of_keys.len() >= Self::MOST {
            self.forget_one(limit, now);
        }
        if self.of_keys.len() < Self::MOST {
            let bucket = Bucket { excess: 0, last: now };
            self.of_keys.insert(key, bucket);
            self.by_end.push(Reverse((bucket.empty_at(limit), key)));
        } else {
            self.untracked += 1;
        }
    }

    /// Forgets a bucket that has run empty. Each one that has not, because of requests since, gets its present time, which happens at
    /// most once for each request.
    fn forget_one(&mut self, limit: &Limit, now: i64) {
        while let Some(mut first) = self.by_end.peek_mut() {
            let Reverse((end, key)) = *first;
            if end > now {
                return;
            }
            match self.of_keys.get(&key).map(|bucket| bucket.empty_at(limit)).filter(|end| *end > now) {
                Some(end) => *first = Reverse((end, key)),
                None => {
                    PeekMut::pop(first);
                    self.of_keys.remove(&key);
                    return;
                }
            }
        }
    }
}

/// The thousandths of requests that leak out in so many milliseconds.
fn drained(limit: &Limit, elapsed: i64) -> i64 {
    limit.rate.saturating_mul(elapsed) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_let_through_and_then_the_rate() {
        let limit = "key=network rate=5r/s burst=2".parse().unwrap();
        let mut buckets = Buckets::default();
        for (now, expected) in [
            (1_000, true),
            (1_000, true),
            (1_000, true),
            (1_000, false),
            (1_199, false),
            (1_200, true),
            (1_200, false),
            // A request that comes late finds the bucket as it is.
            (1_100, false),
            (1_400, true),
            (99_000, true),
        ] {
            assert_eq!(buckets.admits(&limit, 1, now), expected, "{now}");
        }
        assert!(buckets.admits(&limit, 2, 1_000));
    }

    #[test]
    fn no_more_keys_are_kept_than_the_bound_permits() {
        let limit = "key=address rate=1r/s".parse().unwrap();
        let mut buckets = Buckets::default();
        let most = Buckets::MOST as u64;
        (0..most + 5).for_each(|key| assert!(buckets.admits(&limit, key, 0)));
        assert_eq!((buckets.of_keys.len(), buckets.untracked), (Buckets::MOST, 5));
        // Most have run empty, and those that have not are kept.
        (0..100).for_each(|key| _ = buckets.admits(&limit, key, 999));
        (0..100).for_each(|key| assert!(buckets.admits(&limit, key, 1_000)));
        (0..most - 100).for_each(|key| assert!(buckets.admits(&limit, most + key, 1_000)));
        assert_eq!((buckets.of_keys.len(), buckets.untracked), (Buckets::MOST, 5));
        (0..100).for_each(|key| assert!(!buckets.admits(&limit, key, 1_999), "{key}"));
        assert!(buckets.admits(&limit, 2 * most, 1_999));
        assert_eq!(
            (buckets.of_keys.len(), buckets.by_end.len(), buckets.untracked),
            (Buckets::MOST, Buckets::MOST, 6)
        );
    }

    #[test]
    fn a_forgotten_bucket_answers_as_it_would_have() {
        let limit = "key=address rate=7r/s burst=2".parse().unwrap();
        let (mut bounded, mut all, mut random) = (Buckets::default(), Buckets::default(), 1_u64);
        let filled = Buckets::MOST as u64 - 50;
        (0..filled).for_each(|key| _ = bounded.admits(&limit, u64::MAX - key, i64::MAX / 2));
        for now in (0..20_000).map(|number| number * 10) {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // One key has half of the requests.
            let key = (random >> 33) % 60 * (random >> 50 & 1);
            assert_eq!(bounded.admits(&limit, key, now), all.admits(&limit, key, now), "{key} at {now}");
        }
        assert_eq!((all.of_keys.len(), bounded.of_keys.len(), bounded.untracked), (60, Buckets::MOST, 0));
    }
}
