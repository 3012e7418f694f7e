//! Fewer prefixes that say the same: the longest one that contains an address counts.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use ipnet::IpNet;

/// Removes what a shorter prefix says already, and makes one prefix of two halves that say the same, as long as there is
/// something to do.
pub(super) fn aggregate<V: Clone + PartialEq>(entries: &mut BTreeMap<IpNet, V>) {
    loop {
        let before = entries.len();
        remove_repeated(entries);
        unite_halves(entries);
        if entries.len() == before {
            break;
        }
    }
}

fn remove_repeated<V: PartialEq>(entries: &mut BTreeMap<IpNet, V>) {
    let mut repeated = Vec::new();
    let mut around: Vec<(IpNet, &V)> = Vec::new();
    // A prefix comes before those inside.
    for (prefix, value) in &*entries {
        while around.pop_if(|(outer, _)| !outer.contains(prefix)).is_some() {}
        if around.last().is_some_and(|(_, outer)| *outer == value) {
            repeated.push(*prefix);
        } else {
            around.push((*prefix, value));
        }
    }
    for prefix in repeated {
        entries.remove(&prefix);
    }
}

fn unite_halves<V: Clone + PartialEq>(entries: &mut BTreeMap<IpNet, V>) {
    for length in (1..=128).rev() {
        let of_length: Vec<IpNet> =
            entries.keys().copied().filter(|prefix| prefix.prefix_len() == length).collect();
        for half in of_length {
            let Some(whole) = half.supernet().filter(|whole| whole.network() == half.network()) else {
                continue;
            };
            let Some(other) = other_half(whole, half) else { continue };
            let is_same = entries.get(&half).is_some_and(|value| entries.get(&other) == Some(value));
            if is_same && let Some(value) = entries.remove(&half) {
                entries.remove(&other);
                // Its own statement, if it made one, was true of no address.
                entries.insert(whole, value);
            }
        }
    }
}

fn other_half(whole: IpNet, half: IpNet) -> Option<IpNet> {
    whole.subnets(half.prefix_len()).ok()?.find(|prefix| *prefix != half)
}

/// Prefixes of which each address is in at most one: that of the longest prefix that contained it. `entries` are in
/// their order.
pub(super) fn disjoint<'v, V>(entries: &[(IpNet, &'v V)]) -> Vec<(IpNet, &'v V)> {
    let mut parts = Vec::new();
    let mut rest = entries;
    while let Some(((prefix, value), others)) = rest.split_first() {
        // Those inside follow it.
        let count = others.iter().take_while(|(inner, _)| prefix.contains(inner)).count();
        let (inside, after) = others.split_at_checked(count).unwrap_or((others, &[]));
        let holes: Vec<IpNet> = inside.iter().map(|(inner, _)| *inner).collect();
        without(*prefix, &holes, &mut |part| parts.push((part, *value)));
        parts.extend(disjoint(inside));
        rest = after;
    }
    parts
}

/// The rest of a prefix without others inside it.
fn without(prefix: IpNet, holes: &[IpNet], found: &mut dyn FnMut(IpNet)) {
    let holes: Vec<IpNet> =
        holes.iter().copied().filter(|hole| hole.contains(&prefix) || prefix.contains(hole)).collect();
    if holes.is_empty() {
        return found(prefix);
    }
    if holes.iter().any(|hole| hole.contains(&prefix)) {
        return;
    }
    if let Ok(halves) = prefix.subnets(prefix.prefix_len().saturating_add(1)) {
        halves.for_each(|half| without(half, &holes, found));
    }
}
