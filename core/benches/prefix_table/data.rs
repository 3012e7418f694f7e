//! Prefixes and addresses, the same in every run.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use crawlpike_core::internals::parse_prefix;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// An IPv4 prefix with its value.
pub(crate) type V4 = (Ipv4Net, u32);
/// An IPv6 prefix with its value.
pub(crate) type V6 = (Ipv6Net, u32);

/// IPv4 prefixes by length, in thousandths of the table, like the public routing table of 2024 (bgp.potaroo.net):
/// `/24` are six of ten, `/22` and `/23` two more, nothing is longer.
const LENGTHS_V4: [(u8, u32); 14] = [
    (11, 1),
    (12, 1),
    (13, 1),
    (14, 1),
    (15, 2),
    (16, 14),
    (17, 8),
    (18, 14),
    (19, 26),
    (20, 45),
    (21, 54),
    (22, 116),
    (23, 108),
    (24, 609),
];

/// IPv6 likewise (220,000 routes, average length 43): nearly half are `/48`, then `/32`, `/44`, `/40`.
const LENGTHS_V6: [(u8, u32); 17] = [
    (28, 3),
    (29, 28),
    (30, 3),
    (31, 1),
    (32, 135),
    (33, 15),
    (34, 14),
    (35, 7),
    (36, 50),
    (38, 8),
    (40, 110),
    (42, 24),
    (44, 90),
    (45, 8),
    (46, 28),
    (47, 21),
    (48, 455),
];

/// Of a hundred IPv6 routes, how many lie inside another one.
const MORE_SPECIFIC_V6: u64 = 57;

/// The blocks from which the five registries allocate IPv6.
const REGISTRIES_V6: [&str; 7] =
    ["2001::/16", "2400::/12", "2600::/12", "2800::/12", "2a00::/12", "2a10::/12", "2c00::/12"];

/// A small fast generator (splitmix64), so that every run has the same data.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        Self(1)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn bits(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    fn length(&mut self, lengths: &[(u8, u32)]) -> u8 {
        let mut point = self.below(lengths.iter().map(|(_, share)| *share as usize).sum()) as u32;
        for (length, share) in lengths {
            match point.checked_sub(*share) {
                Some(rest) => point = rest,
                None => return *length,
            }
        }
        unreachable!("the point lies below the sum of the shares")
    }
}

/// An address as an integer.
pub(crate) trait Address: Copy + 'static {
    /// With these bits added to the lowest ones.
    fn with_low_bits(self, bits: u64) -> Self;
}

impl Address for u32 {
    fn with_low_bits(self, bits: u64) -> Self {
        self | bits as u32
    }
}

impl Address for u128 {
    fn with_low_bits(self, bits: u64) -> Self {
        self | Self::from(bits)
    }
}

/// A prefix from which addresses can be drawn.
pub(crate) trait Prefix: Copy + 'static {
    type Address: Address;
    fn address(self, random: &mut Random) -> Self::Address;
}

impl Prefix for Ipv4Net {
    type Address = u32;
    fn address(self, random: &mut Random) -> u32 {
        self.network().to_bits() | (random.next() as u32 & self.hostmask().to_bits())
    }
}

impl Prefix for Ipv6Net {
    type Address = u128;
    fn address(self, random: &mut Random) -> u128 {
        self.network().to_bits() | (random.bits() & self.hostmask().to_bits())
    }
}

/// Draws addresses inside the prefixes.
pub(crate) fn inside<P: Prefix>(entries: &[(P, u32)]) -> impl Fn(&mut Random) -> P::Address {
    |random| entries[random.below(entries.len())].0.address(random)
}

/// Draws unicast IPv4 addresses.
pub(crate) fn anywhere_v4() -> impl Fn(&mut Random) -> u32 {
    |random| 0x0100_0000 + random.below(0xE000_0000 - 0x0100_0000) as u32
}

/// Draws addresses of the blocks from which IPv6 is allocated.
pub(crate) fn anywhere_v6() -> impl Fn(&mut Random) -> u128 {
    let blocks = registries();
    move |random| blocks[random.below(blocks.len())].address(random)
}

fn registries() -> [Ipv6Net; REGISTRIES_V6.len()] {
    REGISTRIES_V6.map(|block| block.parse().expect("a prefix"))
}

/// Different prefixes with lengths like the routing table's, anywhere in the unicast space and in random order. Real
/// neighbours stand closer together and share more memory.
pub(crate) fn routing_table_v4(count: usize, values: usize) -> Vec<V4> {
    let (mut random, mut seen) = (Random::new(), HashSet::new());
    let place = anywhere_v4();
    let mut entries = Vec::with_capacity(count);
    while entries.len() < count {
        let length = random.length(&LENGTHS_V4);
        let net = Ipv4Net::new(place(&mut random).into(), length).expect("a length of IPv4").trunc();
        if seen.insert(net) {
            entries.push((net, random.below(values) as u32));
        }
    }
    entries
}

/// The same prefixes, no two with the same value.
pub(crate) fn with_own_values(entries: &[V4]) -> Vec<V4> {
    entries.iter().zip(0..).map(|((net, _), value)| (*net, value)).collect()
}

/// Different prefixes with lengths like the routing table's: some inside others, the others in the registries' blocks.
pub(crate) fn routing_table_v6(count: usize, values: usize) -> Vec<V6> {
    let (mut random, mut seen) = (Random::new(), HashSet::new());
    let place = anywhere_v6();
    let mut entries: Vec<V6> = Vec::with_capacity(count);
    while entries.len() < count {
        let length = random.length(&LENGTHS_V6);
        let mut bits = place(&mut random);
        if random.next() % 100 < MORE_SPECIFIC_V6 && !entries.is_empty() {
            let (outer, _) = entries[random.below(entries.len())];
            if outer.prefix_len() < length {
                bits = outer.address(&mut random);
            }
        }
        let net = Ipv6Net::new(bits.into(), length).expect("a length of IPv6").trunc();
        if seen.insert(net) {
            entries.push((net, random.below(values) as u32));
        }
    }
    entries
}

/// The feeds that AI crawlers and search engines publish.
pub(crate) struct Feeds {
    pub(crate) source: String,
    pub(crate) v4: Vec<V4>,
    pub(crate) v6: Vec<V6>,
}

/// Every prefix in the JSON files of the directory `CRAWLPIKE_FEEDS`, or of `core/data/feeds`, with the number of its
/// file as its value; without them, 3,000 invented ones with lengths like theirs.
pub(crate) fn feeds() -> Feeds {
    let directory = std::env::var_os("CRAWLPIKE_FEEDS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/data/feeds")), PathBuf::from);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&directory).into_iter().flatten().flatten().map(|file| file.path()).collect();
    files.sort();
    let mut prefixes = BTreeMap::new();
    for (file, value) in files.into_iter().zip(0..) {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        for prefix in text.split('"').filter_map(|part| parse_prefix(part).ok()) {
            prefixes.entry(prefix).or_insert(value);
        }
    }
    let mut source = format!("real feeds from {}", directory.display());
    if prefixes.is_empty() {
        source = String::from("invented, like the feeds of crawlers");
        prefixes = invented_feeds();
    }
    let mut feeds = Feeds { source, v4: Vec::new(), v6: Vec::new() };
    for (net, value) in prefixes {
        match net {
            IpNet::V4(net) => feeds.v4.push((net, value)),
            IpNet::V6(net) => feeds.v6.push((net, value)),
        }
    }
    feeds.source = format!("{} ({} v4, {} v6)", feeds.source, feeds.v4.len(), feeds.v6.len());
    feeds
}

/// Ranges of a few bits in a few dozen blocks of a cloud, and one /64 after the other.
fn invented_feeds() -> BTreeMap<IpNet, u32> {
    let mut random = Random::new();
    let mut prefixes = BTreeMap::new();
    while prefixes.len() < 3000 {
        let value = random.below(14) as u32;
        let prefix = if random.below(3) < 2 {
            let length = random.length(&[(16, 4), (20, 10), (24, 11), (27, 55), (28, 15), (32, 5)]);
            let block = 0x2200_0000 + ((random.below(40) as u32) << 17);
            IpNet::new(std::net::Ipv4Addr::from(block | random.next() as u32 & 0x1_FFFF).into(), length)
        } else {
            let block = [0x2001_4860_4801_u128 << 80, 0x2600_1900 << 96][random.below(2)];
            IpNet::new(std::net::Ipv6Addr::from(block | (random.bits() & 0x0FFF << 64)).into(), 64)
        };
        prefixes.insert(prefix.expect("a length of the family").trunc(), value);
    }
    prefixes
}
