//! The leaky buckets of nginx's `limit_req`.

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

/// The buckets of a limit, by their keys. A bucket that has run empty is forgotten when there are too many; it would answer as a
/// new one does.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    of_keys: HashMap<u64, Bucket>,
    /// When empty buckets were last looked for: at the same time, or before, there are no others.
    swept: Option<i64>,
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
        if self.of_keys.len() >= Self::MOST && self.swept.is_none_or(|swept| swept < now) {
            self.swept = Some(now);
            self.of_keys.retain(|_, bucket| bucket.excess + 1000 > drained(limit, now - bucket.last));
        }
        if self.of_keys.len() < Self::MOST {
            self.of_keys.insert(key, Bucket { excess: 0, last: now });
        } else {
            self.untracked += 1;
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
        assert!(buckets.admits(&limit, most, 1_000));
        assert_eq!((buckets.of_keys.len(), buckets.untracked), (1, 5));
    }
}
