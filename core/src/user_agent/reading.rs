//! The findings while the words of a User-Agent are read.

use core::cell::OnceCell;
use core::ops::Range;

use memchr::memchr;

use super::form::{find, first_comment};
use super::lists::{ENDINGS, PEOPLES_ADDRESSES, PEOPLES_NAMES, Sign};
use super::phrases::{begins_with, ends_with};
use super::vocabulary::Claim;

/// The findings so far.
pub(super) struct Reading<'t> {
    pub(super) text: &'t [u8],
    pub(super) claim: Claim,
    /// A token that stands where it does not count.
    pub(super) misplaced: Option<usize>,
    /// True if there was a name or a web address of automation.
    automation: bool,
    /// True if a code editor was named, and the framework on which such editors run.
    editor: bool,
    electron: bool,
    /// See [`device_name`]; looked for once.
    device: OnceCell<Range<usize>>,
}

impl<'t> Reading<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        let device = OnceCell::new();
        Self {
            text,
            claim: Claim::default(),
            misplaced: None,
            automation: false,
            editor: false,
            electron: false,
            device,
        }
    }

    /// Returns true if something in the parts that have been read names automation.
    pub(super) fn names_automation(&self, parts: &[Range<usize>]) -> bool {
        let has_mail_address =
            |part: &Range<usize>| self.text.get(part.clone()).is_some_and(has_mail_address);
        self.automation
            || self.editor && self.electron
            || memchr(b'@', self.text).is_some() && parts.iter().any(has_mail_address)
    }

    /// Returns true if names can still change the answer: a claim counts more, and one name of automation is enough.
    pub(super) fn asks_for_names(&self) -> bool {
        self.claim.token().is_none() && !self.automation
    }

    /// Notes the name at this place.
    pub(super) fn take_sign(&mut self, place: &Range<usize>, sign: Sign) {
        let after = self.text.get(place.end..).unwrap_or_default();
        let begins_with_any = |beginnings: &[&str]| beginnings.iter().any(|text| begins_with(after, text));
        match sign {
            Sign::Automation => self.automation |= !self.names_device(place.start),
            Sign::Address => {
                self.automation |= after.starts_with(b"://") && !begins_with_any(PEOPLES_ADDRESSES);
            }
            // Internet Explorer 8 repeats its predecessor's User-Agent within its own.
            Sign::Compatible => {
                self.automation |= after.starts_with(b";")
                    && !begins_with_any(&["; MSIE", ";MSIE"])
                    && !self.follows_mozilla(place.start);
            }
            Sign::Electron => self.electron = true,
            Sign::Editor => self.editor |= after.starts_with(b"/"),
        }
    }

    /// Notes the name at this place if it ends like one of automation.
    #[cold]
    pub(super) fn take_ending(&mut self, place: Range<usize>) {
        let start = place.start;
        let name = self.text.get(place).unwrap_or_default();
        let ends_with_any = |endings: &[&str]| endings.iter().any(|ending| ends_with(name, ending));
        self.automation |=
            ends_with_any(ENDINGS) && !ends_with_any(PEOPLES_NAMES) && !self.names_device(start);
    }

    /// Returns true if this place is in the name of a device: see [`device_name`].
    fn names_device(&self, place: usize) -> bool {
        self.device.get_or_init(|| device_name(self.text)).contains(&place)
    }

    /// Returns true if `Mozilla/5.0 (` comes right before this place.
    fn follows_mozilla(&self, place: usize) -> bool {
        const LONGEST: usize = "Mozilla/1.10 [en] (".len();
        let before = self.text.get(place.saturating_sub(LONGEST)..place).unwrap_or_default();
        before.ends_with(b"(") && find(before, "Mozilla/").is_some()
    }
}

/// Returns true if a name with this last byte may end with one of [`ENDINGS`]. Hardly any word of a browser ends with
/// it.
pub(super) const fn may_be_ending(last: &u8) -> bool {
    matches!(*last | 0x20, b't' | b'r')
}

/// The range in which the very first comment names an Android device. Models have all kinds of names.
fn device_name(text: &[u8]) -> Range<usize> {
    let (comment, _) = first_comment(text);
    let place = || {
        let start = memchr(b'(', text)? + 1;
        Some(start + find(comment, "Android")?..start + comment.len())
    };
    place().unwrap_or_default()
}

/// Returns true if there is a mail address. An `@` before a number is a version: `Ecosia android@88.0`.
fn has_mail_address(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'@').skip(1).any(|rest| {
        let is_domain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
        let domain = rest.split(|byte| !is_domain(byte)).next().unwrap_or_default();
        domain.first().is_some_and(u8::is_ascii_alphabetic) && domain.contains(&b'.')
    })
}
