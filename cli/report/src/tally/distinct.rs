//! The number of different addresses, in memory of fixed size.

use std::f64::consts::LN_2;
use std::net::IpAddr;

use hashbrown::HashSet;

/// Counts different addresses: exactly up to [`Self::EXACT`], else by HyperLogLog, whose standard error is 1.6 %.
#[derive(Clone, Debug)]
pub(crate) enum Distinct {
    Exact(HashSet<u128>),
    Estimate(Box<Registers>),
}

/// A number of different addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Count {
    pub(crate) count: u64,
    /// False if it is an estimate.
    pub(crate) exact: bool,
}

impl Default for Distinct {
    fn default() -> Self {
        Self::Exact(HashSet::new())
    }
}

impl Distinct {
    pub(crate) const EXACT: usize = 512;

    pub(crate) fn add(&mut self, address: IpAddr) {
        self.add_bits(bits(address));
    }

    fn add_bits(&mut self, bits: u128) {
        match self {
            Self::Exact(known) => {
                known.insert(bits);
                if known.len() > Self::EXACT {
                    let mut registers = Registers::new();
                    known.iter().for_each(|bits| registers.add(*bits));
                    *self = Self::Estimate(registers);
                }
            }
            Self::Estimate(registers) => registers.add(bits),
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        match (&mut *self, other) {
            (_, Self::Exact(known)) => known.into_iter().for_each(|bits| self.add_bits(bits)),
            (Self::Estimate(registers), Self::Estimate(other)) => registers.merge(&other),
            (Self::Exact(known), Self::Estimate(mut registers)) => {
                known.iter().for_each(|bits| registers.add(*bits));
                *self = Self::Estimate(registers);
            }
        }
    }

    pub(crate) fn count(&self) -> Count {
        match self {
            Self::Exact(known) => Count { count: known.len() as u64, exact: true },
            Self::Estimate(registers) => Count { count: registers.estimate(), exact: false },
        }
    }
}

fn bits(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// HyperLogLog: of the hashes with the same first bits, the longest run of zeros behind them.
#[derive(Clone, Debug)]
pub(crate) struct Registers([u8; 1 << Registers::BITS]);

impl Registers {
    const BITS: u32 = 12;
    /// The longest run has one more than the bits that are left.
    const LONGEST: usize = 64 - Self::BITS as usize + 1;

    fn new() -> Box<Self> {
        Box::new(Self([0; 1 << Self::BITS]))
    }

    fn add(&mut self, bits: u128) {
        let hash = mix(mix(bits as u64) ^ (bits >> 64) as u64);
        let register = (hash >> (64 - Self::BITS)) as usize;
        // The bit behind the hash bounds the run.
        let run = (hash << Self::BITS | 1 << (Self::BITS - 1)).leading_zeros() + 1;
        let run = run as u8;
        self.0[register] = self.0[register].max(run);
    }

    fn merge(&mut self, other: &Self) {
        for (run, others) in self.0.iter_mut().zip(&other.0) {
            *run = (*run).max(*others);
        }
    }

    /// The estimator of Otmar Ertl (New cardinality estimation algorithms for HyperLogLog sketches, 2017), which needs no
    /// table of corrections.
    fn estimate(&self) -> u64 {
        let mut with_run = [0_u32; Self::LONGEST + 1];
        for run in &self.0 {
            with_run[usize::from(*run)] += 1;
        }
        let all = self.0.len() as f64;
        let mut sum = all * tau(1.0 - f64::from(with_run[Self::LONGEST]) / all);
        for count in with_run[1..Self::LONGEST].iter().rev() {
            sum = 0.5 * (sum + f64::from(*count));
        }
        sum += all * sigma(f64::from(with_run[0]) / all);
        let estimate = all * all / (2.0 * LN_2 * sum);
        estimate.round() as u64
    }
}

fn sigma(x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut x, mut y, mut z) = (x, 1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z <= before {
            return z;
        }
    }
}

fn tau(x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut x, mut y, mut z) = (x, 1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z >= before {
            return z / 3.0;
        }
    }
}

/// SplitMix64: the same on every machine, so that a report is.
fn mix(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(addresses: std::ops::Range<u128>) -> Distinct {
        let mut distinct = Distinct::default();
        addresses.for_each(|bits| distinct.add_bits(bits));
        distinct
    }

    #[test]
    fn up_to_the_bound_the_count_is_exact() {
        let bound = Distinct::EXACT as u128;
        let mut distinct = counted(0..bound);
        distinct.merge(counted(bound / 2..bound));
        assert_eq!(distinct.count(), Count { count: Distinct::EXACT as u64, exact: true });
        let mut same = Distinct::default();
        for address in ["192.0.2.1", "::ffff:192.0.2.1"] {
            same.add(address.parse().unwrap());
        }
        assert_eq!(same.count().count, 1);
    }

    #[test]
    fn above_the_bound_the_estimate_is_within_three_standard_errors() {
        for size in [600_u128, 1_000, 5_000, 10_000, 12_000, 50_000, 1_000_000] {
            // Neighbours, as the addresses of a network are, of IPv4 and of IPv6.
            for start in [0xffff_0000_0000, 0x2001_0db8_u128 << 96] {
                let mut distinct = counted(start..start + size / 2);
                distinct.merge(counted(start + size / 3..start + size));
                let Count { count, exact } = distinct.count();
                assert!(!exact);
                let error = (count as f64 / size as f64 - 1.0).abs();
                assert!(error < 3.0 * 1.04 / 64.0, "{size}: {count}");
            }
        }
    }
}
