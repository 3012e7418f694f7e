//! The meaning of the names that a page gives to its parts (`class`, `id`).

use self::Strength::{
    Caption, Consent, Detail, Label, Leading, Portrait, Review, Strong, Talk, Text, Unseen, Weak,
};

/// The certainty of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// The part is not content if it leads elsewhere, and may be content all the same, if it has much text.
    Weak,
    /// The part stands beside the content, and says little: a date, a caption. It may be content if it has much text.
    Label,
    /// The same, unless the part is a sentence, or each of several things beside each other has one.
    Detail,
    /// The same as a `Label`, unless the part has an image in it.
    Caption,
    /// The same, unless the part has more than an image or a letter in it: the picture of an author.
    Portrait,
    /// The same as a `Label`, also of a part of a table or a list: few people see it.
    Unseen,
    /// A `Label`, too: a part that asks whether cookies may be stored.
    Consent,
    /// The part is not content.
    Strong,
    /// The part is not content if it leads elsewhere.
    Leading,
    /// The part is what readers say about the content, and may be much more than the content itself.
    Talk,
    /// The same, if the page is that of a product.
    Review,
    /// The part is content: other words begin like this one.
    Text,
}

impl Strength {
    /// Returns true if a rule of this certainty leaves out little.
    pub(super) fn is_unsure(self) -> bool {
        matches!(self, Self::Weak | Self::Label | Self::Detail)
    }
}

/// A word that names parts which are not the content: its beginning, or, if it ends with `.`, all of it.
type Word = (&'static str, Strength);

/// The words, in the order of their first letters.
const WORDS: [Word; COUNT] = [
    ("ad.", Strong),
    ("adbox.", Strong),
    ("ads.", Strong),
    ("adsense", Strong),
    ("adslot", Strong),
    ("adunit", Strong),
    ("adv.", Weak),
    ("advert", Strong),
    ("aside.", Weak),
    ("avatar", Portrait),
    ("banner", Label),
    ("breadcrumb", Strong),
    ("breaking", Weak),
    ("byline", Strong),
    ("caption", Caption),
    ("commentar", Text),
    ("comment", Talk),
    ("community", Weak),
    ("cookie", Consent),
    ("copyright", Label),
    ("credit", Label),
    ("cta.", Weak),
    ("date.", Detail),
    ("dfp", Strong),
    ("disqus", Talk),
    ("donat", Weak),
    ("dropdown", Weak),
    ("editsection", Strong),
    ("extrauser", Label),
    ("facet", Strong),
    ("feedback", Weak),
    ("filter", Label),
    ("flair.", Detail),
    ("footer", Strong),
    ("footnav", Strong),
    ("gallery", Weak),
    ("gdpr", Consent),
    ("gravatar", Portrait),
    ("hidden", Unseen),
    ("infobar", Strong),
    ("inread", Strong),
    ("legal.", Weak),
    ("login", Weak),
    ("masthead", Strong),
    ("menu", Weak),
    ("meta.", Detail),
    ("modal", Leading),
    ("more.", Weak),
    ("mostpopular", Strong),
    ("mostread", Strong),
    ("nav.", Strong),
    ("navbar", Strong),
    ("navfoot", Strong),
    ("navhead", Strong),
    ("navigation", Leading),
    ("newsletter", Strong),
    ("next.", Weak),
    ("noprint", Label),
    ("onetrust", Consent),
    ("outbrain", Strong),
    ("overlay", Weak),
    ("pager.", Strong),
    ("pagination", Strong),
    ("paginator", Strong),
    ("popular", Weak),
    ("popup", Weak),
    ("postmeta", Detail),
    ("postprofile", Strong),
    ("prev.", Weak),
    ("print.", Label),
    ("printonly", Label),
    ("profile", Weak),
    ("promo", Leading),
    ("pubdate", Detail),
    ("rail.", Label),
    ("recirc", Strong),
    ("recommend", Weak),
    ("refine", Weak),
    ("related", Leading),
    ("remark", Weak),
    ("replies", Talk),
    ("respond", Weak),
    ("review", Review),
    ("rightcol", Strong),
    ("rightrail", Strong),
    ("rss.", Strong),
    ("screenreader", Unseen),
    ("scrollto", Strong),
    ("share", Leading),
    ("sharing", Leading),
    ("sidebar", Strong),
    ("signin", Strong),
    ("signup", Strong),
    ("sitemap", Strong),
    ("skip", Weak),
    ("skyscraper", Strong),
    ("slideshow", Weak),
    ("social", Leading),
    ("sponsor", Leading),
    ("sr.", Unseen),
    ("subscri", Leading),
    ("syndication", Strong),
    ("taboola", Strong),
    ("tag.", Weak),
    ("tagcloud", Strong),
    ("tags.", Weak),
    ("teaser", Leading),
    ("ticker", Weak),
    ("toolbar", Leading),
    ("tools.", Weak),
    ("tooltip", Label),
    ("topics.", Weak),
    ("trending", Weak),
    ("upsell", Strong),
    ("userextra", Label),
    ("utility.", Weak),
    ("voting", Weak),
    ("widget", Label),
];

/// The number of words.
pub(super) const COUNT: usize = 118;

/// The first and last of the words with each two first letters.
const BY_LETTERS: [(u8, u8); 26 * 26] = {
    let mut ranges = [(0, 0); 26 * 26];
    let mut at = 0;
    while at < COUNT {
        #[expect(clippy::indexing_slicing, reason = "evaluated when it is compiled")]
        {
            let range = &mut ranges[place(STARTS[at].0)];
            if range.1 == 0 {
                range.0 = at as u8;
            }
            assert!(range.1 == 0 || range.1 as usize == at, "the words are in the order of their letters");
            range.1 = at as u8 + 1;
        }
        at += 1;
    }
    ranges
};

/// The place for words of at least two letters that start like this one.
const fn place(start: Start) -> usize {
    let [first, second, ..] = start.0.to_be_bytes();
    first.wrapping_sub(b'a') as usize * 26 + second.wrapping_sub(b'a') as usize
}

/// The certainty of a word, by its number.
pub(super) fn strength(word: usize) -> Strength {
    match WORDS.get(word) {
        Some((_, Caption | Consent | Portrait | Unseen)) | None => Label,
        Some((_, other)) => *other,
    }
}

/// The words of a strength, a bit each.
pub(super) const fn of_strength(wanted: Strength) -> u128 {
    let (mut words, mut at) = (0, 0);
    while at < COUNT {
        #[expect(clippy::indexing_slicing, reason = "within the bounds that the loop checks")]
        if WORDS[at].1 as u8 == wanted as u8 {
            words |= 1 << at;
        }
        at += 1;
    }
    words
}

/// Words that take the meaning from the one after them, as in `has-sidebar`.
const TAKES: [Start; 11] = [
    Start::of(b"no"),
    Start::of(b"not"),
    Start::of(b"non"),
    Start::of(b"has"),
    Start::of(b"with"),
    Start::of(b"without"),
    Start::of(b"is"),
    Start::of(b"hide"),
    Start::of(b"show"),
    Start::of(b"overflow"),
    Start::of(b"label"),
];

/// Words that have a meaning together with the next part of their name, as in `message-userExtras`.
const JOINED: [Start; 2] = [Start::of(b"user"), Start::of(b"extra")];

/// The bytes of names that are read: nobody needs more to name a part.
const LONGEST: usize = 512;

/// The words in the names that speak of a part which is not the content: a bit each.
pub(super) fn against(names: &[u8]) -> u128 {
    let names = names.get(..LONGEST).unwrap_or(names);
    let mut found = 0;
    // A name such as `md:hidden`, `group/tooltip` or `[&>a]:menu` is a declaration.
    let is_declaration = |name: &[u8]| memchr::memchr3(b':', b'/', b'[', name).is_some();
    let has_declarations = is_declaration(names);
    let all = || names.split(u8::is_ascii_whitespace);
    // The largest screens on which a declaration shows the part.
    let mut shown_from = None;
    for mut name in all() {
        if has_declarations || name.starts_with(b"d-") || name == b"hidden" {
            // The view is that of a large screen: with `hidden md:block`, without `md:hidden`.
            let shown_from = *shown_from.get_or_insert_with(|| {
                all().filter_map(display).filter(|(_, display)| shows(display)).map(|(size, _)| size).max()
            });
            name = match display(name) {
                Some((size, b"hidden" | b"none")) if shown_from <= Some(size) => b"hidden",
                None if !is_declaration(name) => name,
                _ => continue,
            };
        }
        let mut is_taken = false;
        for (word, from) in words(without_hash(name)) {
            let start = Start::at(from, word.len());
            if !is_taken {
                let against = word_against(word, start);
                if against != 0 && !is_hidden_on_small_screens(word, from) {
                    found |= against;
                }
                if let Some(both) = JOINED.contains(&start).then(|| with_next_part(word, from)).flatten() {
                    found |= word_against(both, Start::at(from, both.len()));
                }
            }
            is_taken = start.may_take() && TAKES.contains(&start);
        }
    }
    found
}

/// The display that a name gives an element, behind the size of the screens from which on it does: `hidden` and `md:block`
/// of Tailwind, `d-none` and `d-md-block` of Bootstrap.
fn display(name: &[u8]) -> Option<(usize, &[u8])> {
    const SIZES: [&[u8]; 6] = [b"sm", b"md", b"lg", b"xl", b"xxl", b"2xl"];
    if matches!(name, b"hidden" | b"d-none") {
        return Some((0, b"hidden"));
    }
    let (name, mark) = name.strip_prefix(b"d-").map_or((name, b":"), |name| (name, b"-"));
    let at = |size: &[u8]| name.strip_prefix(size)?.strip_prefix(mark);
    (1..).zip(SIZES).find_map(|(size, written)| Some((size, at(written)?)))
}

/// Returns true if a word hides its element on small screens or on paper only: `hidden-xs`, `hidden-md-down`.
fn is_hidden_on_small_screens(word: &[u8], from: &[u8]) -> bool {
    const SMALL: [&[u8]; 6] = [b"xs", b"sm", b"phone", b"mobile", b"tablet", b"print"];
    let size = from.strip_prefix(b"hidden-").filter(|_| word == b"hidden");
    size.is_some_and(|size| {
        size.ends_with(b"-down")
            || SMALL.iter().any(|small| size.starts_with(small)) && !size.ends_with(b"-up")
    })
}

/// Returns true if a declaration shows its element.
fn shows(display: &[u8]) -> bool {
    const DISPLAYS: [&[u8]; 6] = [b"block", b"inline", b"flex", b"grid", b"table", b"contents"];
    DISPLAYS.iter().any(|shown| display.starts_with(shown))
}

/// The name without the hash that a bundler adds to it: five letters and digits, `card_root__adKqa`.
fn without_hash(name: &[u8]) -> &[u8] {
    const LENGTH: usize = 5;
    let Some((rest, hash)) = name.split_last_chunk::<LENGTH>() else { return name };
    let is_mixed = || hash.iter().skip(1).any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let is_hash = rest.ends_with(b"__") && is_mixed() && hash.iter().all(u8::is_ascii_alphanumeric);
    if is_hash { rest } else { name }
}

/// The words of a name, each also with what follows it: `postMeta-date_2` has three.
fn words(name: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
        let mut start = rest.iter().position(is_letter)?;
        // Letters behind a digit are a part of a number: `28c65ad00c`.
        while start > 0 && rest.get(start - 1).is_some_and(u8::is_ascii_digit) {
            let end = start + rest.get(start..)?.iter().position(|byte| !is_letter(byte))?;
            start = end + rest.get(end..)?.iter().position(is_letter)?;
        }
        let from = rest.get(start..)?;
        // Most words have no capitals, and some begin with them.
        let capitals = from.iter().position(|byte| !byte.is_ascii_uppercase()).unwrap_or(from.len());
        let others = from.get(capitals..)?;
        let end =
            capitals + others.iter().position(|byte| !byte.is_ascii_lowercase()).unwrap_or(others.len());
        let (word, after) = from.split_at_checked(end)?;
        rest = after;
        Some((word, from))
    })
}

/// The word together with the part of its name that follows it: `userExtras` of `userExtras-item`.
fn with_next_part<'a>(word: &[u8], from: &'a [u8]) -> Option<&'a [u8]> {
    let next = from.get(word.len()..).filter(|next| next.first().is_some_and(u8::is_ascii_uppercase))?;
    let (next, _) = words(next).next()?;
    from.get(..word.len() + next.len())
}

/// The first letters of a word, in lower case, in one number that is compared at once; zeros after a shorter word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start(u64);

impl Start {
    const LETTERS: usize = 8;

    #[expect(clippy::indexing_slicing, reason = "within the bounds that the loop checks")]
    const fn of(word: &[u8]) -> Self {
        let (mut start, mut at) = (Self(0), 0);
        while at < word.len() {
            start = start.with(at, word[at]);
            at += 1;
        }
        start
    }

    /// The first letters of so many that are at the start of these bytes.
    fn at(from: &[u8], letters: usize) -> Self {
        match from.first_chunk() {
            Some(first) => {
                let others = Self::LETTERS.saturating_sub(letters);
                let lower = u64::from_be_bytes(*first) | u64::from_be_bytes([0x20; Self::LETTERS]);
                Self(lower & u64::MAX << (8 * others))
            }
            None => Self::of(from.get(..letters).unwrap_or(from)),
        }
    }

    /// Returns true if one of the words that take the meaning from others has the same first letter.
    fn may_take(self) -> bool {
        matches!(self.0.to_be_bytes(), [b'n' | b'h' | b'w' | b'i' | b's' | b'o' | b'l', ..])
    }

    /// The same with one more letter.
    const fn with(self, at: usize, letter: u8) -> Self {
        if at >= Self::LETTERS {
            return self;
        }
        Self(self.0 | ((letter | 0x20) as u64) << (8 * (Self::LETTERS - 1 - at)))
    }
}

/// Of each of the words: its first letters, and which of them, with the end of a whole word, are compared.
const STARTS: [(Start, u64); COUNT] = {
    let mut starts = [(Start(0), 0); COUNT];
    let mut at = 0;
    while at < COUNT {
        #[expect(clippy::indexing_slicing, reason = "evaluated when it is compiled")]
        {
            let pattern = WORDS[at].0.as_bytes();
            let is_whole = pattern[pattern.len() - 1] == b'.';
            let letters = if is_whole { pattern.len() - 1 } else { pattern.len() };
            assert!(
                !is_whole || letters < Start::LETTERS,
                "the end of a whole word is compared with its letters"
            );
            let (word, _) = pattern.split_at(letters);
            let compared = if pattern.len() < Start::LETTERS { pattern.len() } else { Start::LETTERS };
            starts[at] = (Start::of(word), u64::MAX << (8 * (Start::LETTERS - compared)));
        }
        at += 1;
    }
    starts
};

fn word_against(word: &[u8], start: Start) -> u128 {
    let (from, to) = BY_LETTERS.get(place(start)).copied().unwrap_or_default();
    let starts = STARTS.get(usize::from(from)..usize::from(to)).unwrap_or_default();
    let is_it = |number: u8| {
        let pattern = WORDS.get(usize::from(number)).map_or("", |(pattern, _)| pattern);
        let after = pattern.as_bytes().get(Start::LETTERS..).unwrap_or_default();
        let rest = word.get(Start::LETTERS..).unwrap_or_default();
        rest.get(..after.len()).is_some_and(|rest| rest.eq_ignore_ascii_case(after))
    };
    let mut numbers = (from..to).zip(starts);
    let found = numbers.find(|(number, (other, letters))| start.0 & letters == other.0 && is_it(*number));
    found.map_or(0, |(number, _)| 1 << number)
}

#[cfg(test)]
mod tests {
    use super::{Strength, WORDS};

    fn against(names: &str) -> Option<Strength> {
        let found = super::against(names.as_bytes());
        let words = WORDS.iter().enumerate().filter(|(number, _)| found >> number & 1 == 1);
        words.map(|(_, (_, strength))| *strength).max()
    }

    #[test]
    fn words_are_found_in_names_of_every_style() {
        assert_eq!(against("x relatedPosts"), Some(Strength::Leading));
        for names in ["sidebar", "left-sidebar_2", "AD", "page__ad", "page__ad-12", "site-nav", "main-Footer"]
        {
            assert_eq!(against(names), Some(Strength::Strong), "{names}");
        }
        assert_eq!(against("postComments"), Some(Strength::Talk));
        assert_eq!(against("entry-meta"), Some(Strength::Detail));
        for names in ["message-userExtras", "extraUserInfo"] {
            assert_eq!(against(names), Some(Strength::Label), "{names}");
        }
        for names in ["lg:hidden", "hidden-sm-up", "hidden-lg", "d-none", "d-lg-none", "d-sm-block d-xl-none"]
        {
            assert_eq!(against(names), Some(Strength::Unseen), "{names}");
        }
        for names in [
            "",
            "post",
            "shadow",
            "headline",
            "no-sidebar",
            "hasSidebar",
            "navy",
            "tagged",
            "padding-2",
            "28c65ad00c",
            "table_root__adKqa",
            "hidden md:block",
            "hidden-xs",
            "hidden-md-down",
            "hidden lg:inline-flex",
            "hidden sm:hidden lg:block",
            "d-none d-md-block",
            "hidden d-md-block",
            "d-sm-none d-lg-flex",
            "d-flex",
            "message-userDetails",
            "user-extras",
            "extras",
        ] {
            assert_eq!(against(names), None, "{names}");
        }
    }
}
