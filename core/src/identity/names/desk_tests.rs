//! The places for lookups under attack, with a clock of its own.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::net::IpAddr;

use super::desk::{MOST_LOOKUPS, NameDesk, NamePlaces, NameShares, NameStage};
use super::{NameLookup, NameLookupResult};
use crate::hash::mix;
use crate::http::domains::Domains;
use crate::ids::{AgentId, Id};
use NameLookupResult::{BackedOff, Confirmed, OverLimit, Refuted, TimedOut};

const NOW: i64 = 1_800_000_000;

fn shares_for(address: &str, domain: &str) -> NameShares {
    let lookup = NameLookup {
        agent: AgentId::from_index(0).unwrap(),
        address: address.parse().unwrap(),
        domains: Arc::new(Domains::new(vec![domain.into()])),
    };
    NameShares::of(&lookup)
}

fn shares(address: &str) -> NameShares {
    shares_for(address, "crawl.example.com")
}

fn numbered(number: u32, domain: &str) -> NameShares {
    shares_for(&alloc::format!("{}", IpAddr::V4(number.into())), domain)
}

fn desk() -> NameDesk {
    NameDesk::new(7)
}

/// Ends a lookup.
fn end(desk: &mut NameDesk, shares: NameShares, stage: NameStage, result: NameLookupResult, now: i64) {
    desk.give_back(shares, stage);
    desk.note(shares, stage, result, now);
}

/// The number of lookups that get a place.
fn taken(desk: &mut NameDesk, all: impl Iterator<Item = NameShares>) -> usize {
    all.filter(|shares| desk.take(*shares, NOW).is_ok()).count()
}

#[test]
fn a_network_a_zone_and_an_agent_have_their_shares() {
    let mut desk = desk();
    let of_network = taken(&mut desk, (0..256).map(|host| numbered(0xc000_0200 | host, "a.example.com")));
    assert_eq!(of_network, MOST_LOOKUPS.div_ceil(5));
    let of_zone = |host: u32| numbered(0xc000_0000 | host, &alloc::format!("{host}.example.com"));
    let of_zone = taken(&mut desk, (0..0x1_0000).map(of_zone));
    assert_eq!(of_network + of_zone, MOST_LOOKUPS / 2);
    let mut of_agent = 0;
    for shares in (0..256).map(|host| numbered(host << 16, "c.example.com")) {
        if desk.take(shares, NOW).is_ok() {
            desk.advance(shares);
            of_agent += 1;
        }
    }
    assert_eq!(of_agent, MOST_LOOKUPS / 4);
    // Something is left for others.
    assert_eq!(desk.take(shares_for("2001:db8::1", "d.example.com"), NOW), Ok(()));
    assert_eq!(desk.take(shares_for("2001:db8:1::1", "c.example.com"), NOW), Err(OverLimit));
    assert_eq!(desk.take(numbered(0xc000_0201, "e.example.com"), NOW), Err(OverLimit));
    (0..32).for_each(|host| desk.give_back(numbered(host << 16, "c.example.com"), NameStage::Addresses));
    assert_eq!(desk.take(shares_for("2001:db8:1::1", "c.example.com"), NOW), Ok(()));
    let ipv6 = shares("2001:db8:1::1");
    assert_eq!(ipv6, shares("2001:db8:1:ffff::2"));
    assert_ne!(ipv6, shares("2001:db8:2::1"));
}

#[test]
fn shares_are_those_of_the_network_and_of_the_zone_above_it() {
    // The networks of 192.0.2.1 and of 192.0.3.1 are two, in one zone.
    assert_ne!(shares("192.0.2.1"), shares("192.0.3.1"));
    let taken = |places: &mut NamePlaces, address: fn(u32) -> alloc::string::String| {
        (0..100).filter(|number| places.take(shares(&address(*number)))).count()
    };
    let mut places = NamePlaces::new(10);
    assert_eq!(taken(&mut places, |_| "192.0.2.1".into()), 2);
    assert_eq!(taken(&mut places, |number| alloc::format!("192.0.{}.1", number + 3)), 3);
    // Half of what is left, for each zone.
    assert_eq!(taken(&mut places, |number| alloc::format!("192.1.{number}.1")), 3);
    let mut places = NamePlaces::new(10);
    assert_eq!(taken(&mut places, |number| alloc::format!("2001:db8:{number}::1")), 5);
    assert_eq!(taken(&mut places, |number| alloc::format!("2001:db9:{number}::1")), 3);
}

#[test]
fn what_is_given_back_is_free() {
    let mut places = NamePlaces::new(10);
    for _ in 0..1000 {
        assert!(places.take(shares("192.0.2.1")));
        places.give_back(shares("192.0.2.1"));
    }
}

#[test]
fn a_zone_that_does_not_answer_is_asked_less_and_less() {
    let (mut desk, one) = (desk(), shares("192.0.2.1"));
    let (mut now, mut pauses) = (NOW, Vec::new());
    for _ in 0..7 {
        assert_eq!(desk.take(one, now), Ok(()));
        end(&mut desk, one, NameStage::Name, TimedOut, now);
        let pause = (0..).find(|pause| desk.take(one, now + pause) != Err(BackedOff)).unwrap();
        now += pause;
        pauses.push(pause);
        // One lookup at a time, until it answers.
        assert_eq!(desk.take(shares("192.0.2.9"), now), Err(BackedOff));
        assert_eq!(desk.take(shares("192.0.3.9"), now), Ok(()), "another zone");
        end(&mut desk, shares("192.0.3.9"), NameStage::Name, Refuted, now);
        desk.give_back(one, NameStage::Name);
    }
    assert_eq!(pauses, [4, 8, 16, 32, 64, 64, 64]);
    assert_eq!(desk.take(one, now), Ok(()));
    end(&mut desk, one, NameStage::Name, Refuted, now);
    assert!((0..9).all(|_| desk.take(one, now).is_ok()), "it answers again");
}

#[test]
fn the_domains_of_an_agent_are_asked_unless_they_fail_often() {
    let mut desk = desk();
    let look_up = |desk: &mut NameDesk, number: u32, result| {
        let one = numbered(number << 8, "crawl.example.com");
        assert_eq!(desk.take(one, NOW), Ok(()), "{number}");
        desk.advance(one);
        end(desk, one, NameStage::Addresses, result, NOW);
    };
    for number in 0..7 {
        look_up(&mut desk, number, TimedOut);
    }
    look_up(&mut desk, 7, Confirmed);
    for number in 8..16 {
        look_up(&mut desk, number, TimedOut);
    }
    assert_eq!(desk.take(shares("203.0.113.1"), NOW), Err(BackedOff));
    assert_eq!(desk.take(shares_for("203.0.113.1", "other.example"), NOW), Ok(()));
    assert_eq!(desk.take(shares("203.0.114.1"), NOW + 4), Ok(()));
    // One at a time, until the zone answers.
    desk.advance(shares("203.0.114.1"));
    assert_eq!(desk.take(shares("203.0.115.1"), NOW + 4), Err(BackedOff));
}

/// Of 4 genuine new clients a second, whose zones answer within 50 ms, how many get a place while 3,600 others a second claim the
/// same agent from new addresses of so many /16, whose zones do not answer. A request waits for a second.
fn genuine_under_attack(zones: u32) -> (usize, usize) {
    const STEPS: i64 = 100;
    let mut desk = desk();
    let mut under_way: Vec<(i64, NameShares, NameLookupResult)> = Vec::new();
    let (mut sent, mut admitted, mut random) = (0, 0, 1);
    for step in 0..15 * STEPS {
        let now = NOW + step / STEPS;
        under_way.retain(|(until, shares, result)| {
            let is_under_way = *until > step;
            if !is_under_way {
                end(&mut desk, *shares, NameStage::Name, *result, now);
            }
            is_under_way
        });
        for _ in 0..36 {
            random += 1;
            let address = mix(random) as u32;
            let claimant =
                numbered(0xc600_0000 | ((address >> 16) % zones) << 16 | address & 0xffff, "a.example");
            if desk.take(claimant, now).is_ok() {
                under_way.push((step + STEPS, claimant, TimedOut));
            }
        }
        if step % (STEPS / 4) == 7 {
            sent += 1;
            let genuine = numbered(0x0100_0001 + ((sent as u32 * 7) << 16), "a.example");
            if desk.take(genuine, now).is_ok() {
                admitted += 1;
                under_way.push((step + STEPS / 20, genuine, Confirmed));
            }
        }
    }
    (sent, admitted)
}

// RDNS-2
#[test]
fn claimants_whose_zones_do_not_answer_leave_places_to_others() {
    for zones in [1, 2, 20] {
        let (sent, admitted) = genuine_under_attack(zones);
        assert_eq!((sent, admitted), (60, 60), "{zones}");
    }
}
