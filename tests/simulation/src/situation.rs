//! The situations that publishers and edges get into.

/// A publisher's situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Situation {
    /// Nothing but its usual changes.
    Usual,
    /// An error page, half a file, an empty list, or no answer.
    Breaks,
    /// The list has a tenth of its prefixes.
    LosesMost,
    /// A random part of the list is missing.
    Truncates,
    /// A random part of the list is replaced by prefixes of others.
    Mixes,
    /// The list loses 8 % of its prefixes each day, which are still in use.
    ShrinksSlowly,
    /// The list loses 30 % of its prefixes each day, which are still in use.
    ShrinksFast,
    /// The list is that of another publisher, who has this one's.
    Swaps,
    /// The list of two months ago, with its date.
    GoesBackDated,
    /// The list of two months ago; the publisher never changes the date.
    GoesBackUndated,
    /// No answer for a month.
    Vanishes,
    /// JSON of a shape that nobody knows.
    ChangesShape,
    /// One entry in twenty cannot be read.
    HalfReadable,
    /// The list claims half of the Internet.
    ClaimsTooMuch,
    /// Somebody has added prefixes of his own, a twentieth.
    Hijacked,
    /// All addresses are new, from one day to the next, and the list says so.
    Moves,
    /// A random part of the addresses is new, from one day to the next, and the list says so.
    Renumbers,
    /// A tenth of the addresses is new each day, and the list says so.
    MovesSlowly,
    /// Twelve times as many addresses, and the list says so.
    Grows,
    /// New addresses are in use three days before the list has them.
    PublishesLate,
}

/// All situations, in the order of the table.
pub const SITUATIONS: [(Situation, &str); 20] = [
    (Situation::Usual, "none: the usual changes of a list"),
    (Situation::Breaks, "an error page, half a file, an empty list or no answer, for three days"),
    (Situation::LosesMost, "the list has a tenth of its prefixes, for three days"),
    (Situation::Truncates, "a random part of the list is missing, for three days"),
    (Situation::Mixes, "a random part of the list is replaced by prefixes of others, for three days"),
    (Situation::ShrinksFast, "the list loses 30% of its prefixes each day by mistake, for ten days"),
    (Situation::ShrinksSlowly, "the list loses 8% of its prefixes each day by mistake, for ten days"),
    (Situation::Swaps, "two publishers have each other's list, for three days"),
    (Situation::GoesBackDated, "the list of two months ago, with its date, for five days"),
    (Situation::GoesBackUndated, "the list of two months ago, all lists having one date, for five days"),
    (Situation::Vanishes, "no answer for a month"),
    (Situation::ChangesShape, "JSON of an unknown shape, for twenty days"),
    (Situation::HalfReadable, "one entry in twenty cannot be read, for five days"),
    (Situation::ClaimsTooMuch, "the list has half of the Internet, for three days"),
    (Situation::Hijacked, "somebody adds a twentieth of prefixes to the list, for ten days"),
    (Situation::Moves, "all addresses are new from one day to the next, and the list is right"),
    (
        Situation::Renumbers,
        "a random part of the addresses is new from one day to the next, and the list is right",
    ),
    (Situation::MovesSlowly, "a tenth of the addresses is new each day, and the list is right"),
    (Situation::Grows, "twelve times as many addresses, and the list is right"),
    (Situation::PublishesLate, "new addresses are in use three days before the list has them"),
];

impl Situation {
    /// The days for which it lasts. What an edge does about a change that stays is observed for two weeks.
    pub fn days(self) -> usize {
        match self {
            Self::Breaks
            | Self::LosesMost
            | Self::Truncates
            | Self::Mixes
            | Self::Swaps
            | Self::ClaimsTooMuch => 3,
            Self::GoesBackDated | Self::GoesBackUndated | Self::HalfReadable => 5,
            Self::ShrinksFast | Self::ShrinksSlowly | Self::Hijacked => 10,
            Self::Usual
            | Self::Moves
            | Self::Renumbers
            | Self::MovesSlowly
            | Self::Grows
            | Self::PublishesLate => 14,
            Self::ChangesShape => 20,
            Self::Vanishes => 30,
        }
    }
}

/// The way in which an edge reaches publishers, and its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// It asks the publishers, and its clock is right.
    Straight,
    /// Its mirror is ten days behind.
    LateMirror,
    /// Its mirror has two servers that answer in turn, one of which is ten days behind.
    TwoMirrors,
    /// Its clock is ten days ahead for a week, now and then.
    ClockAhead,
    /// Its clock is ten days behind for a week, now and then.
    ClockBehind,
}

/// All ways but the straight one, in the order of the table.
pub const WAYS: [(Way, &str); 4] = [
    (Way::LateMirror, "the edge asks a mirror that is ten days behind"),
    (Way::TwoMirrors, "the edge asks two mirrors in turn, one of them ten days behind"),
    (Way::ClockAhead, "the edge's clock is ten days ahead, for a week"),
    (Way::ClockBehind, "the edge's clock is ten days behind, for a week"),
];
