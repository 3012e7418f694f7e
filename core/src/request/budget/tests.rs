//! The budget under attack, with a clock of its own.

use alloc::boxed::Box;

use super::*;

const NOW: i64 = 1_800_000_000;
const DAY: i64 = 24 * 60 * 60;

fn network(address: &str) -> NetworkKey {
    NetworkKey::of(Some(address.parse().unwrap()))
}

/// The network with a number, none of which is the same.
fn numbered(number: u32) -> NetworkKey {
    NetworkKey::of(Some(IpAddr::V4((number << 8).into())))
}

fn budget() -> Box<SignatureBudget> {
    let budget = Box::new(SignatureBudget::new());
    budget.seed(|| 0x0123_4567_89ab_cdef);
    budget
}

/// Sends a bad signature; true if it is examined.
fn send_bad(budget: &SignatureBudget, network: NetworkKey, now: i64) -> bool {
    let is_examined = budget.allows(network, now);
    if is_examined {
        budget.note_bad(network, now);
    }
    is_examined
}

/// Sends a good signature; true if it is examined.
fn send_good(budget: &SignatureBudget, network: NetworkKey, hash: u64, created: i64, now: i64) -> bool {
    let is_examined = budget.allows(network, now);
    if is_examined {
        budget.note_good(network, Holding { hash: mix(hash), created }, now);
    }
    is_examined
}

fn examined(budget: &SignatureBudget, network: NetworkKey, now: i64, sent: usize) -> u64 {
    (0..sent).filter(|_| send_bad(budget, network, now)).count() as u64
}

fn is_known(budget: &SignatureBudget, network: NetworkKey, now: i64) -> bool {
    budget.known.find(budget.hash(network.0), now).is_some()
}

#[test]
fn a_client_s_network_is_24_bits_long_and_48_in_ipv6() {
    for (one, other, is_same) in [
        ("192.0.2.1", "192.0.2.254", true),
        ("192.0.2.1", "192.0.3.1", false),
        ("192.0.2.1", "::ffff:192.0.2.7", true),
        ("2001:db8:1::1", "2001:db8:1:ffff::2", true),
        ("2001:db8:1::1", "2001:db8:2::1", false),
        ("0.0.0.0", "::", false),
    ] {
        assert_eq!(network(one) == network(other), is_same, "{one} {other}");
    }
    assert_ne!(NetworkKey::of(None), network("0.0.0.0"));
}

#[test]
fn a_network_has_its_share_each_second_and_leaves_something_to_the_others() {
    let (budget, one) = (budget(), network("192.0.2.1"));
    for now in [NOW, NOW + 2, NOW + 3600] {
        let share = examined(&budget, one, now, 1000);
        assert_eq!(share, ALONE);
        assert_eq!(examined(&budget, network("192.0.2.2"), now, 1000), 0, "the same network");
        assert!((1..share).contains(&examined(&budget, network("192.0.3.1"), now, 1000)));
        let others = 1000..1000 + 2 * MOST as u32;
        let spent: u64 = others.map(|number| examined(&budget, numbered(number), now, 1)).sum();
        assert!(budget.strangers.at(now) == MOST && spent < MOST, "all is spent, and no more");
        // In the next second, each has as much as if all of them came again.
        assert_eq!(examined(&budget, one, now + 1, 1000), 1);
    }
}

#[test]
fn workers_whose_clocks_differ_share_one_budget() {
    let strangers = budget();
    let spent: u64 = (0..20_000).map(|n| examined(&strangers, numbered(n), NOW + i64::from(n % 2), 1)).sum();
    assert!(spent <= 2 * MOST, "{spent}");
    let known = budget();
    let one = network("192.0.2.1");
    known.note_good(one, Holding { hash: 1, created: NOW }, NOW);
    let spent: u64 = (0..20_000).map(|n| examined(&known, one, NOW + n % 2, 1)).sum();
    assert!(spent <= 2 * ALONE, "{spent}");
}

/// One second of 5,000 bad signatures, in a random order with what else is sent.
struct Attack {
    networks: u32,
    random: u64,
}

impl Attack {
    fn random(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_add(1);
        mix(self.random) % bound
    }

    /// Sends 5,000 bad signatures a second for `seconds`, and meanwhile 40 good ones of known networks and 40 of new ones.
    /// Returns which part of each is examined.
    fn run(&mut self, budget: &SignatureBudget, known: u32, start: i64, seconds: i64) -> [f64; 3] {
        let (mut counts, mut sent, mut new) = ([0_u64; 3], [0_u64; 3], 1 << 20);
        for now in start..start + seconds {
            for _ in 0..5_080 {
                let kind = match self.random(5_080) {
                    ..40 => 0,
                    40..80 => 1,
                    _ => 2,
                };
                let is_examined = match kind {
                    0 => {
                        let network = numbered(self.random(known.into()) as u32);
                        send_good(budget, network, self.random, now, now)
                    }
                    1 => {
                        new += 1;
                        send_good(budget, numbered(new), self.random, now, now)
                    }
                    _ => send_bad(budget, numbered(1 << 16 | self.random(self.networks.into()) as u32), now),
                };
                counts[kind] += u64::from(is_examined);
                sent[kind] += 1;
            }
        }
        [0, 1, 2].map(|kind| counts[kind] as f64 / sent[kind] as f64)
    }
}

/// A budget that knows this many networks for nearly a day.
fn acquainted(known: u32) -> Box<SignatureBudget> {
    let budget = budget();
    for number in 0..known {
        assert!(send_good(&budget, numbered(number), number.into(), NOW - DAY + 60, NOW - DAY + 60));
    }
    budget
}

// SIG-12
#[test]
fn under_attack_known_networks_are_examined_and_new_ones_get_what_the_attackers_leave() {
    for (networks, least_of_new) in [(8, 0.99), (200, 0.99), (1_000, 0.04), (5_000, 0.04)] {
        let budget = acquainted(300);
        let mut attack = Attack { networks, random: 7 };
        // In the first second, nobody knows how many attack.
        for (start, seconds, least_of_new) in [(NOW, 1, 0.0), (NOW + 1, 60, least_of_new)] {
            let [known, new, bad] = attack.run(&budget, 300, start, seconds);
            assert!(known >= 0.99, "{networks}: {known} of known networks");
            assert!(new >= least_of_new, "{networks}: {new} of new ones");
            assert!(bad * 5_000.0 <= MOST as f64 + 1.0, "{networks}: {bad} of bad ones");
        }
    }
}

#[test]
fn known_networks_cannot_use_up_more_than_their_budget_nor_the_strangers_theirs() {
    let budget = acquainted(300);
    for now in [NOW, NOW + 1] {
        let spent: u64 = (0..300).map(|number| examined(&budget, numbered(number), now, 100)).sum();
        assert_eq!(spent, MOST);
        assert!(send_bad(&budget, numbered(1 << 16), now));
    }
}

#[test]
fn a_network_is_known_for_a_day_after_its_last_new_signature() {
    let (budget, one) = (budget(), numbered(1));
    assert!(!is_known(&budget, one, NOW));
    send_good(&budget, one, 1, NOW, NOW);
    assert!(is_known(&budget, one, NOW + DAY) && !is_known(&budget, one, NOW + DAY + 1));
    send_good(&budget, one, 2, NOW + 60, NOW + 60);
    assert!(is_known(&budget, one, NOW + DAY + 60));
    // The clock is set back.
    assert!(is_known(&budget, one, NOW - 60));
}

#[test]
fn far_more_than_256_networks_are_known() {
    let budget = budget();
    for number in 0..4_000 {
        let then = NOW - 4_000 + i64::from(number);
        send_good(&budget, numbered(number), number.into(), then, then);
    }
    let known = (0..4_000).filter(|number| is_known(&budget, numbered(*number), NOW)).count();
    assert!(known > 3_900, "{known}");
    // Those in which none has held for the longest time make room.
    for number in 10_000..100_000 {
        let then = NOW + i64::from(number / 100);
        send_good(&budget, numbered(number), number.into(), then, then);
    }
    assert!((99_900..100_000).all(|number| is_known(&budget, numbered(number), NOW)));
}

// SIG-12
#[test]
fn a_replay_makes_nobody_known_and_costs_strangers_their_share() {
    let (budget, signer) = (budget(), numbered(1));
    assert!(send_good(&budget, signer, 5, NOW, NOW));
    // Whatever else is seen meanwhile, and however often.
    for number in 0..50_000_u32 {
        send_good(&budget, numbered(1000 + number % 100), u64::from(100 + number), NOW + 1, NOW + 1);
    }
    for number in 0..100 {
        let replayer = numbered(1 << 16 | number);
        let now = NOW + 2 + i64::from(number);
        let examined = (0..1000).filter(|_| send_good(&budget, replayer, 5, NOW, now)).count() as u64;
        assert_eq!(examined, ALONE, "as many as bad ones");
        assert!(!is_known(&budget, replayer, now));
    }
    // In its own network, one signature is good for many requests, as long as that is known.
    assert!((0..1000).all(|_| send_good(&budget, signer, 5, NOW, NOW + 200)));
    assert!(is_known(&budget, signer, NOW + DAY) && !is_known(&budget, signer, NOW + DAY + 1));
}

#[test]
fn new_signatures_cost_nothing() {
    let budget = budget();
    for number in 0..10_000 {
        assert!(send_good(
            &budget,
            numbered(number % 300),
            number.into(),
            NOW + i64::from(number / 500),
            NOW
        ));
    }
    assert!(budget.strangers.at(NOW) + budget.acquaintances.at(NOW) < 10);
}

#[test]
fn the_first_key_counts() {
    let budget = SignatureBudget::new();
    let hash = |budget: &SignatureBudget| budget.hash(7);
    let unseeded = hash(&budget);
    budget.seed(|| 0);
    let seeded = hash(&budget);
    budget.seed(|| 2);
    assert!(unseeded != seeded && hash(&budget) == seeded);
}
