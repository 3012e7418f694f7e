//! The literals between the `*` of a pattern, each found in one pass.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::path::normal_form::{NormalOctets, Octets, Watched};

/// Octets in normal form, with their Knuth-Morris-Pratt table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Literal {
    pub(super) octets: Box<[u8]>,
    /// For each position, how much of the literal is still matched when the octet after it differs.
    failure: Box<[u32]>,
    /// The position of the octet that is the rarest in paths.
    rarest: usize,
}

impl Literal {
    fn new(octets: Octets<'_>) -> Self {
        let octets: Box<[u8]> = octets.collect();
        let mut failure = Vec::with_capacity(octets.len());
        let mut matched = 0;
        for (index, octet) in octets.iter().enumerate() {
            if index > 0 {
                // `failure` is complete up to `index`, and `matched` is smaller.
                matched = advance(&octets, &failure, matched, *octet);
            }
            failure.push(matched);
        }
        let rarest = (0..octets.len()).max_by_key(|at| octets.get(*at).map(|octet| rarity(*octet)));
        Self { failure: failure.into(), rarest: rarest.unwrap_or_default(), octets }
    }

    /// Reads up to the end of the leftmost match.
    fn find(&self, octets: &mut impl NormalOctets) -> bool {
        let Some(rarest) = self.octets.get(self.rarest) else { return true };
        let mut matched = 0;
        // No match begins where its rarest octet would not be.
        while matched > 0 || octets.skip_to(*rarest, self.rarest) {
            let Some(octet) = octets.next() else { return false };
            matched = advance(&self.octets, &self.failure, matched, octet);
            if matched as usize == self.octets.len() {
                return true;
            }
        }
        false
    }

    /// Returns true if the literal ends where the octets do.
    fn ends(&self, octets: &mut impl NormalOctets) -> bool {
        if let Some(rest) = octets.rest() {
            return rest.ends_with(&self.octets);
        }
        let matched = octets.fold(0, |matched, octet| advance(&self.octets, &self.failure, matched, octet));
        matched as usize == self.octets.len()
    }
}

/// A literal after a `*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) literal: Literal,
    /// The same for the case that all of it is in the query, if the normal form differs there: `%3A` is `:` in a query, and
    /// what a `*` stands for may end before the query or in it.
    pub(super) in_query: Option<Literal>,
}

impl Part {
    /// Compiles a literal; `is_after_query` says that the query begins before it for sure.
    pub(super) fn new(raw: &[u8], is_after_query: bool) -> Self {
        let in_query = Literal::new(Octets::in_query(raw));
        if is_after_query {
            return Self { literal: in_query, in_query: None };
        }
        let literal = Literal::new(Octets::new(raw));
        let in_query = Some(in_query).filter(|in_query| *in_query != literal);
        Self { literal, in_query }
    }

    /// Reads up to the end of the leftmost match, or, where the literal `is_last`, to the end of the path; says whether
    /// the literal is there.
    pub(super) fn find(&self, octets: &mut impl NormalOctets, is_last: bool) -> bool {
        if is_last { self.literal.ends(octets) } else { self.literal.find(octets) }
    }

    /// As [`Self::find`], where the literal can differ in the query.
    pub(super) fn find_watching(&self, octets: &mut Watched<impl NormalOctets>, is_last: bool) -> bool {
        let Some(in_query) = &self.in_query else { return self.find(octets, is_last) };
        if !octets.is_in_query {
            // This spelling holds a percent-encoding that no query has in normal form, so it is found only where it begins
            // before the query; then it ends no later than any match in the query.
            let mut ahead = octets.clone();
            if self.find(&mut ahead, is_last) {
                *octets = ahead;
                return true;
            }
            if !octets.skip_to_query() {
                return false;
            }
        }
        if is_last { in_query.ends(octets) } else { in_query.find(octets) }
    }
}

/// The greater, the rarer the octet is in paths.
fn rarity(octet: u8) -> u8 {
    match octet {
        b'/' | b'-' | b'e' | b'a' => 0,
        b'a'..=b'z' => 1,
        b'0'..=b'9' | b'.' | b'%' => 2,
        _ => 3,
    }
}

/// One step of Knuth-Morris-Pratt: how much of `literal` ends with `octet` when `matched` of it ended before.
///
/// `matched` rises by at most one a call and falls with every turn of the loop, so that n calls take at most 2n turns.
fn advance(literal: &[u8], failure: &[u32], mut matched: u32, octet: u8) -> u32 {
    loop {
        #[cfg(test)]
        super::steps::count();
        if literal.get(matched as usize) == Some(&octet) {
            return matched + 1;
        }
        match (matched as usize).checked_sub(1).and_then(|last| failure.get(last)) {
            Some(shorter) => matched = *shorter,
            None => return 0,
        }
    }
}
