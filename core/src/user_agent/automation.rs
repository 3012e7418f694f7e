//! Whether a User-Agent is that of automation, without knowing whose.
//!
//! People's browsers all send the same few shapes, automation sends anything. So the question is first whether it
//! has a browser's shape, and then whether something in it says that no person is behind it. Where a doubt is left,
//! it is a person: stopping one costs more than letting one more bot through. `docs/identity.md` tells it in prose.

use core::cell::OnceCell;
use core::ops::RangeInclusive;

use memchr::{memchr, memchr2_iter};

use super::byte_mask::{BLOCK, blocks, mask, positions};
use super::lists::{
    COMPATIBLE, DEVICES, EDITORS, ELECTRON, ENGINES, NETSCAPE_PLATFORMS, OTHER_BROWSERS, OTHER_ENGINES,
    PEOPLES_WORDS, WORDS,
};
use super::window_filter::{WINDOW, WindowFilter};
#[cfg(test)]
use crate::path_pattern::steps;

/// The last bytes of [`WORDS`].
static WORD_ENDS: WindowFilter = {
    let mut filter = WindowFilter::new();
    let mut words = WORDS;
    while let [word, rest @ ..] = words {
        if let [.., first, second, third] = word.as_bytes() {
            filter.insert([*first, *second, *third]);
        }
        words = rest;
    }
    filter
};

/// Whether the User-Agent is that of automation rather than that of a person's browser.
///
/// No User-Agent and a blank one are automation's: every browser sends one. Allocates nothing, and takes time linear
/// in the User-Agent.
///
/// ```
/// use crawlward_core::user_agent::looks_automated;
///
/// assert!(looks_automated(None));
/// assert!(looks_automated(Some(b"curl/8.5.0")));
/// assert!(looks_automated(Some(b"Mozilla/5.0 (compatible; ExampleBot/1.0; +https://bot.example/)")));
/// assert!(!looks_automated(Some(b"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")));
/// ```
pub fn looks_automated(user_agent: Option<&[u8]>) -> bool {
    let text = user_agent.unwrap_or_default().trim_ascii();
    has_word_of_automation(text)
        || has_mail_address(text)
        || !has_shape_of_browser(text)
        || signs_as_tool(text)
}

fn has_shape_of_browser(text: &[u8]) -> bool {
    let Some(rest) = without_mozilla(text) else {
        // A tool puts its own name before a desktop browser's that it plays. Phones and TV sets do so, too.
        let plays = contains(text, "Mozilla/") && contains_any(text, &["(Windows", "(Macintosh", "(X11"]);
        return !plays && (begins_with_any(text, OTHER_BROWSERS) || OTHER_ENGINES.is_any_in(text));
    };
    let (comment, after) = first_comment(rest);
    // Google's services, and others since, write their name into the remark on the engine.
    let (remark, _) = first_comment(after);
    if memchr(b';', remark).is_some() && contains(remark, "like Gecko;") {
        return false;
    }
    if begins_with_any(after, &[" AppleWebKit/", " Gecko/"]) {
        return !begins_with_host(comment);
    }
    let compatible = comment.starts_with(b"compatible");
    ENGINES.is_any_in(rest)
        || !compatible && DEVICES.is_any_in(rest)
        || !rest.starts_with(b"5") && !compatible && NETSCAPE_PLATFORMS.is_any_in(rest)
}

/// What follows `Mozilla/`, which some phones write in small letters or without the slash.
fn without_mozilla(text: &[u8]) -> Option<&[u8]> {
    let (product, rest) = text.split_at_checked("Mozilla".len())?;
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b"/").unwrap_or(rest).trim_ascii_start();
    (product.eq_ignore_ascii_case(b"Mozilla") && rest.first()?.is_ascii_digit()).then_some(rest)
}

/// Whether there is a mail address. An `@` before a number is a version: `Ecosia android@88.0`.
fn has_mail_address(text: &[u8]) -> bool {
    memchr(b'@', text).is_some()
        && text.split(|byte| *byte == b'@').skip(1).any(|rest| {
            let is_domain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
            let domain = rest.split(|byte| !is_domain(byte)).next().unwrap_or_default();
            domain.first().is_some_and(u8::is_ascii_alphabetic) && domain.contains(&b'.')
        })
}

/// Whether one of [`WORDS`] stands there where a word ends.
fn has_word_of_automation(text: &[u8]) -> bool {
    let (mut letter_before, mut small_before) = (false, false);
    let context = Context::new(text);
    for (index, block) in blocks(text).enumerate() {
        let letters = mask(&block, |byte| byte.is_ascii_alphabetic());
        let small = mask(&block, |byte| byte.is_ascii_lowercase());
        let after_letter = letters << 1 | u64::from(letter_before);
        let after_small = small << 1 | u64::from(small_before);
        (letter_before, small_before) = (letters >> (BLOCK - 1) == 1, small >> (BLOCK - 1) == 1);
        // A word ends before what is no letter, and before a capital after a small letter, as in `camelCase`.
        let ended = after_letter & !letters | after_small & letters & !small;
        for at in positions(ended) {
            let end = index * BLOCK + at;
            let tail = end.checked_sub(WINDOW).and_then(|start| text.get(start..end));
            if tail.is_some_and(|tail| WORD_ENDS.contains(tail)) && context.tells_automation(end) {
                return true;
            }
        }
    }
    false
}

/// What the words of a User-Agent stand in, looked for once: there can be thousands of them.
struct Context<'t> {
    text: &'t [u8],
    /// Where the name of a device stands: see [`model_name`].
    model_name: OnceCell<Option<RangeInclusive<usize>>>,
    /// From where on one of [`EDITORS`] has been named.
    editor: OnceCell<Option<usize>>,
}

impl<'t> Context<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self { text, model_name: OnceCell::new(), editor: OnceCell::new() }
    }

    /// Whether the word that ends here tells automation.
    #[cold]
    fn tells_automation(&self, end: usize) -> bool {
        let Some((before, after)) = self.text.split_at_checked(end) else { return false };
        if PEOPLES_WORDS.iter().any(|word| ends_with(before, word)) {
            return false;
        }
        match WORDS.iter().find(|word| ends_with(before, word)) {
            None => false,
            // The maker of a component writes its address into browsers made with it.
            Some(&("http" | "https")) => {
                after.starts_with(b"://") && !begins_with_any(after, &["://bsalsa.com", "://www.bsalsa.com"])
            }
            Some(&"www") => !after.starts_with(b".bsalsa.com"),
            // `com.example.app` is the name of an application.
            Some(&(".com" | ".org")) => !after.starts_with(b".") && !self.is_in_model_name(end),
            // A part of the browsers made with UCBrowser's.
            Some(&"agent") => !after.starts_with(b"Web/"),
            Some(&COMPATIBLE) => {
                // Internet Explorer 8 repeats its predecessor's User-Agent within its own.
                !is_opening(before)
                    && after.starts_with(b";")
                    && !begins_with_any(after, &["; MSIE", ";MSIE"])
            }
            Some(&ELECTRON) => self.editor().is_some_and(|named| named <= end),
            Some(_) => !self.is_in_model_name(end),
        }
    }

    fn is_in_model_name(&self, end: usize) -> bool {
        self.model_name.get_or_init(|| model_name(self.text)).as_ref().is_some_and(|name| name.contains(&end))
    }

    fn editor(&self) -> Option<usize> {
        let ends = || EDITORS.iter().filter_map(|name| Some(find(self.text, name)? + name.len()));
        *self.editor.get_or_init(|| ends().min())
    }
}

/// Whether `before` ends within the very first comment, at its first word.
fn is_opening(before: &[u8]) -> bool {
    before.len() <= "Mozilla/5.00 (compatible".len() && before.starts_with(b"Mozilla/")
}

/// Where words end that are in the comment in which Android browsers name the device: models may be called anything.
fn model_name(text: &[u8]) -> Option<RangeInclusive<usize>> {
    const SYSTEM: &str = "Android";
    let (comment, _) = first_comment(text);
    let start = memchr(b'(', text)? + 1;
    Some(start + find(comment, SYSTEM)? + SYSTEM.len()..=start + comment.len())
}

/// Whether something signs after a desktop browser's User-Agent is complete: `… Safari/537.36 GTmetrix`. Phones are
/// left out, since in-app browsers sign so, too.
fn signs_as_tool(text: &[u8]) -> bool {
    if text.get("Mozilla/5.0 ".len()..).is_some_and(|rest| rest.starts_with(b"(compatible; MSIE")) {
        let (comment, after) = first_comment(text);
        let name = after.trim_ascii_start();
        let is_peoples =
            name.is_empty() || begins_with_any(name, &["Opera", "NS8/", "Netscape", "[", "like Gecko"]);
        return contains(comment, "Windows NT") && !is_peoples;
    }
    let mut words = text.rsplit(|byte| *byte == b' ');
    let (Some(last), Some(browser)) = (words.next(), words.next()) else { return false };
    if !begins_with_any(browser, &["Safari/", "Firefox/"]) || !last.iter().all(u8::is_ascii_alphabetic) {
        return false;
    }
    let (comment, _) = first_comment(text);
    begins_with_any(comment, &["Windows", "Macintosh", "X11; Linux x86_64", "X11; Linux i686", "X11; U"])
        && !["browser", "Vivaldi", "TheWorld", "Maxthon", "Iron"].iter().any(|name| ends_with(last, name))
}

/// What stands between the first parenthesis and the one that closes it, and what comes after that.
fn first_comment(text: &[u8]) -> (&[u8], &[u8]) {
    #[cfg(test)]
    steps::add(text.len());
    let start = memchr(b'(', text).map_or(text.len(), |at| at + 1);
    let inside = text.get(start..).unwrap_or_default();
    let mut end = memchr(b')', inside);
    if end.and_then(|end| inside.get(..end)).is_some_and(|comment| memchr(b'(', comment).is_some()) {
        let mut depth = 1_usize;
        end = inside.iter().position(|byte| {
            depth += usize::from(*byte == b'(');
            depth -= usize::from(*byte == b')');
            depth == 0
        });
    }
    match end.and_then(|end| inside.split_at_checked(end)) {
        Some((comment, after)) => (comment, after.get(1..).unwrap_or_default()),
        None => (inside, &[]),
    }
}

/// Whether a comment begins with a host name, as in `(feeder.co; Macintosh; …)`.
fn begins_with_host(comment: &[u8]) -> bool {
    let field = comment.split(|byte| matches!(byte, b';' | b' ' | b',')).next().unwrap_or_default();
    field.contains(&b'.') && field.iter().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'.' | b'-'))
}

fn begins_with_any(text: &[u8], beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| text.starts_with(beginning.as_bytes()))
}

fn ends_with(text: &[u8], end: &str) -> bool {
    let part = text.len().checked_sub(end.len()).and_then(|start| text.get(start..)).unwrap_or_default();
    // Nearly all differ in the last byte already.
    let last = |text: &[u8]| text.last().map(u8::to_ascii_lowercase);
    last(part) == last(end.as_bytes()) && part.eq_ignore_ascii_case(end.as_bytes())
}

fn contains(text: &[u8], part: &str) -> bool {
    find(text, part).is_some()
}

/// Where a part first stands in a text, without regard to ASCII case.
fn find(text: &[u8], part: &str) -> Option<usize> {
    #[cfg(test)]
    steps::add(text.len());
    let first = part.bytes().next()?;
    memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text).find(|at| {
        let found = text.get(*at..).and_then(|rest| rest.get(..part.len()));
        found.is_some_and(|found| found.eq_ignore_ascii_case(part.as_bytes()))
    })
}

fn contains_any(text: &[u8], parts: &[&str]) -> bool {
    parts.iter().any(|part| contains(text, part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use crate::catalog::Catalog;
    use crate::diagnostic::{Diagnostics, Strictness};
    use crate::user_agent::Claims;

    const PEOPLE: &str = include_str!("../../tests/data/ua-people.txt");
    const AUTOMATION: &str = include_str!("../../tests/data/ua-automation.txt");

    fn lines(list: &str) -> Vec<&str> {
        list.lines().filter(|line| !line.starts_with('#')).collect()
    }

    fn automated(user_agent: &str) -> bool {
        looks_automated(Some(user_agent.as_bytes()))
    }

    #[test]
    fn no_person_is_taken_for_automation() {
        let people = lines(PEOPLE);
        assert!(people.len() >= 150);
        let wrong: Vec<&str> = people.into_iter().filter(|line| automated(line)).collect();
        assert_eq!(wrong, [""; 0]);
    }

    #[test]
    fn no_person_claims_an_agent() {
        let (name, bytes) = Catalog::builtin();
        let catalog = Catalog::parse(bytes, &mut Diagnostics::new(name, Strictness::Lint)).unwrap();
        let claims = Claims::new(catalog.agents.iter().map(|agent| agent.token.as_str())).unwrap();
        for line in lines(PEOPLE) {
            assert_eq!(claims.find(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn automation_is_recognised_in_995_of_1000() {
        let automation = lines(AUTOMATION);
        assert!(automation.len() >= 150);
        let missed: Vec<&str> = automation.iter().copied().filter(|line| !automated(line)).collect();
        assert!(missed.len() * 1000 <= automation.len() * 5, "{missed:#?}");
    }

    #[test]
    fn no_user_agent_is_automation() {
        assert!(looks_automated(None));
        assert!(automated(""));
        assert!(automated(" \t "));
    }

    #[test]
    fn words_count_at_the_end_of_words_only() {
        let chrome = |end: &str| {
            let mut text =
                String::from("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) ");
            text.push_str(end);
            automated(&text)
        };
        assert!(!chrome("Chrome/140.0.0.0 Safari/537.36"));
        assert!(chrome("Chrome/140.0.0.0 Safari/537.36 SomeBot/1.0"));
        assert!(chrome("Chrome/140.0.0.0 Safari/537.36 some_bot_2"));
        assert!(chrome("HeadlessChrome/140.0.0.0 Safari/537.36"));
        assert!(!chrome("Chrome/140.0.0.0 Safari/537.36 Botany/1.0"));
        assert!(!chrome("Chrome/140.0.0.0 Safari/537.36 Fetchable/1.0"));
    }

    #[test]
    fn names_of_phones_are_no_words() {
        assert!(!automated(
            "Mozilla/5.0 (Linux; Android 9; Super Bot) AppleWebKit/537.36 Chrome/96.0 Safari/537.36"
        ));
        assert!(automated(
            "Mozilla/5.0 (Linux; Android 9; X (2)) AppleWebKit/537.36 Safari/537.36 (Super Bot)"
        ));
    }

    #[test]
    fn compatible_is_a_browsers_only_where_it_opens() {
        assert!(!automated("Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0)"));
        assert!(automated("Mozilla/5.0 (compatible; Example/1.0)"));
        assert!(automated("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Example/1.0)"));
    }

    #[test]
    fn contacts_are_told_from_what_looks_like_one() {
        let firefox = |end: &str| {
            let mut text =
                String::from("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0 ");
            text.push_str(end);
            automated(&text)
        };
        assert!(firefox("(someone@example.net)"));
        assert!(firefox("(see example.com)"));
        assert!(firefox("(+http://x.example)"));
        assert!(!firefox("(Ecosia android@88.0.4324.181)"));
        assert!(!firefox("[air.com.example.app/1.0]"));
    }

    #[test]
    fn a_name_before_a_desktop_browsers_is_a_tools() {
        assert!(automated("Daily/1.0 Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36"));
        assert!(!automated("TV Bro/1.0 Mozilla/5.0 (Linux; Android 9; MiTV) AppleWebKit/537.36 Chrome/90.0"));
        assert!(!automated("mozilla/5.0 (linux; android 9; armor) applewebkit/537.36 mobile safari/537.36"));
    }

    #[test]
    fn bytes_that_are_no_text_do_no_harm() {
        assert!(looks_automated(Some(b"\xff\xfe\0")));
        let mut long = vec![b'('; 8192];
        assert!(looks_automated(Some(&long)));
        long[..13].copy_from_slice(b"Mozilla/5.0 (");
        assert!(looks_automated(Some(&long)));
        assert!(!automated("Mozilla/5.0 (Windows NT 10.0; \u{17c}; rv:128.0) Gecko/20100101 Firefox/128.0"));
    }

    #[test]
    fn thousands_of_words_are_looked_at_in_linear_time() {
        // Counted, not timed: how many bytes are searched for what a word stands in.
        for (opening, word) in [
            ("Mozilla/5.0 (X11) AppleWebKit/537.36 ", "electron "),
            ("Mozilla/5.0 (Linux; Android ", "bot "),
            ("Mozilla/5.0 (Linux; Android ", "(bot)"),
            ("Mozilla/5.0 (Linux; Android 9) AppleWebKit/537.36 (", "(app.com."),
            ("Mozilla/5.0 (compatible; MSIE 8.0; ", "compatible; MSIE "),
        ] {
            let text = [opening, &word.repeat(2000)].concat();
            let (steps, is_automated) = steps::of(|| automated(&text));
            assert!(!is_automated, "{opening}{word}");
            assert!(steps <= 20 * text.len(), "{opening}{word}: {steps}");
        }
    }

    proptest! {
        /// What is looked for once is what would be found before each word.
        #[test]
        fn a_word_is_judged_by_what_stands_before_it(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["(", ")", "Android", "android", "Andr", "oid", " Code/", " cursor/", "bot", " "]), 0..16),
        ) {
            let text = pieces.concat().into_bytes();
            let context = Context::new(&text);
            for end in 0..=text.len() {
                let before = &text[..end];
                let (comment, after) = first_comment(before);
                let is_closed = !after.is_empty() || before.len() > comment.len() + memchr(b'(', before).map_or(end, |at| at + 1);
                prop_assert_eq!(context.is_in_model_name(end), !is_closed && contains(comment, "Android"));
                prop_assert_eq!(context.editor().is_some_and(|named| named <= end), contains_any(before, EDITORS));
            }
        }
    }
}
