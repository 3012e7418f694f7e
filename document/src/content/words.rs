//! What the names that a page gives to its parts (`class`, `id`) say about them.

use self::Strength::{Strong, Weak};

/// How sure a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// The part may be content all the same, if it has much text.
    Weak,
    /// The part is not content.
    Strong,
}

/// A word that names parts which are not the content: its beginning, or, if it ends with `.`, all of it.
type Word = (&'static str, Strength);

/// The words by their first letter.
fn words_against(first: u8) -> &'static [Word] {
    match first {
        b'a' => &[
            ("ad.", Strong),
            ("adbox.", Strong),
            ("ads.", Strong),
            ("adsense", Strong),
            ("adslot", Strong),
            ("adunit", Strong),
            ("adv.", Weak),
            ("advert", Strong),
            ("aside.", Weak),
        ],
        b'b' => &[("banner", Weak), ("breadcrumb", Strong), ("breaking", Weak), ("byline", Strong)],
        b'c' => &[
            ("caption", Weak),
            ("combx", Strong),
            ("comment", Strong),
            ("community", Weak),
            ("cookie", Weak),
            ("credit", Weak),
            ("cta.", Weak),
        ],
        b'd' => &[("date.", Weak), ("dfp", Strong), ("disqus", Strong), ("donat", Weak), ("dropdown", Weak)],
        b'e' => &[("expandable", Weak)],
        b'f' => &[("feedback", Weak), ("footer", Strong), ("footnav", Strong)],
        b'g' => &[("gallery", Weak), ("gdpr", Weak)],
        b'h' => &[("hidden", Weak)],
        b'i' => &[("infobar", Strong), ("inread", Strong)],
        b'j' => &[("jumpto", Strong)],
        b'l' => &[("legal.", Weak), ("livefyre", Strong), ("login", Weak)],
        b'm' => &[
            ("masthead", Strong),
            ("menu", Weak),
            ("meta.", Weak),
            ("modal", Weak),
            ("more.", Weak),
            ("mostpopular", Strong),
            ("mostread", Strong),
        ],
        b'n' => &[
            ("nav.", Strong),
            ("navbar", Strong),
            ("navigation", Strong),
            ("newsletter", Strong),
            ("next.", Weak),
            ("noprint", Weak),
        ],
        b'o' => &[("outbrain", Strong), ("overlay", Weak)],
        b'p' => &[
            ("pager.", Strong),
            ("pagination", Strong),
            ("paginator", Strong),
            ("popular", Weak),
            ("popup", Weak),
            ("postmeta", Weak),
            ("prev.", Weak),
            ("print.", Weak),
            ("printonly", Weak),
            ("promo", Strong),
            ("pubdate", Weak),
        ],
        b'r' => &[
            ("rail.", Weak),
            ("recirc", Strong),
            ("recommend", Weak),
            ("related", Strong),
            ("remark", Weak),
            ("replies", Strong),
            ("respond", Weak),
            ("rightcol", Strong),
            ("rightrail", Strong),
            ("rss.", Strong),
        ],
        b's' => &[
            ("screenreader", Weak),
            ("scrollto", Strong),
            ("share", Strong),
            ("sharing", Strong),
            ("shoutbox", Strong),
            ("sidebar", Strong),
            ("signin", Strong),
            ("signup", Strong),
            ("sitemap", Strong),
            ("skip", Weak),
            ("skyscraper", Strong),
            ("slideshow", Weak),
            ("social", Strong),
            ("sponsor", Strong),
            ("sr.", Weak),
            ("subscri", Strong),
            ("syndication", Strong),
        ],
        b't' => &[
            ("taboola", Strong),
            ("tag.", Weak),
            ("tagcloud", Strong),
            ("tags.", Weak),
            ("teaser", Weak),
            ("ticker", Weak),
            ("toc.", Weak),
            ("toolbar", Strong),
            ("tools.", Weak),
            ("tooltip", Weak),
            ("topics.", Weak),
            ("trending", Weak),
        ],
        b'u' => &[("utility.", Weak)],
        b'w' => &[("widget", Weak)],
        b'z' => &[("zergnet", Strong)],
        _ => &[],
    }
}

/// Words that take the meaning from the one after them, as in `has-sidebar`.
const TAKES: [&str; 9] = ["no", "not", "non", "has", "with", "without", "is", "hide", "show"];

/// The bytes of names that are read: nobody needs more to name a part.
const LONGEST: usize = 512;

/// How surely the names speak of a part that is not the content.
pub(super) fn against(names: &str) -> Option<Strength> {
    let names = names.as_bytes();
    let names = names.get(..LONGEST).unwrap_or(names);
    let mut most = None;
    for name in names.split(u8::is_ascii_whitespace) {
        let mut is_taken = false;
        for word in words(name) {
            if !is_taken {
                most = most.max(word_against(word));
            }
            is_taken = TAKES.iter().any(|takes| word.eq_ignore_ascii_case(takes.as_bytes()));
        }
    }
    most
}

/// The words of a name: `postMeta-date_2` has three.
fn words(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let start = rest.iter().position(u8::is_ascii_alphabetic)?;
        let from = rest.get(start..)?;
        let is_end = |pair: &[u8]| match pair {
            [before, byte] => {
                !byte.is_ascii_alphabetic() || before.is_ascii_lowercase() && byte.is_ascii_uppercase()
            }
            _ => false,
        };
        let end = from.windows(2).position(is_end).map_or(from.len(), |last| last + 1);
        rest = from.get(end..)?;
        from.get(..end)
    })
}

fn word_against(word: &[u8]) -> Option<Strength> {
    let first = word.first().map_or(0, u8::to_ascii_lowercase);
    let is_it = |pattern: &str| match pattern.strip_suffix('.') {
        Some(whole) => word.eq_ignore_ascii_case(whole.as_bytes()),
        None => word.get(..pattern.len()).is_some_and(|start| start.eq_ignore_ascii_case(pattern.as_bytes())),
    };
    words_against(first).iter().find(|(pattern, _)| is_it(pattern)).map(|(_, strength)| *strength)
}

#[cfg(test)]
mod tests {
    use super::{Strength, against};

    #[test]
    fn words_are_found_in_names_of_every_style() {
        for names in
            ["sidebar", "left-sidebar_2", "postComments", "x relatedPosts", "AD", "site-nav", "main-Footer"]
        {
            assert_eq!(against(names), Some(Strength::Strong), "{names}");
        }
        assert_eq!(against("entry-meta"), Some(Strength::Weak));
        for names in
            ["", "post", "shadow", "headline", "no-sidebar", "hasSidebar", "navy", "tagged", "padding-2"]
        {
            assert_eq!(against(names), None, "{names}");
        }
    }
}
