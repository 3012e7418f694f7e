//! Reading a directory of keys: a JSON Web Key Set (RFC 7517, 5).
//!
//! Keys that can't be used are left out, each with a diagnostic. So is a key whose private half is public.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use ed25519_dalek::VerifyingKey;
use serde_json::value::RawValue;

use super::{BASE64URL, Base64Url, Key, thumbprint};
use crate::json::slices::{self, Members, SyntaxError};
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::position::{Locator, Position};
use crate::source::quoted::Quoted;
use crate::source::text::{self, Expected};

/// The most bytes that a directory may have.
pub(crate) const MOST_BYTES: usize = 256 << 10;

/// The most keys that are taken of a directory.
pub(crate) const MOST_KEYS: usize = 100;

/// The most levels of nesting: chains of certificates are arrays in keys.
const DEEPEST: usize = 16;

/// The last time that is read in seconds, in the year 5138. Later ones are in milliseconds, as some publishers write them.
const LAST_SECOND: i64 = 99_999_999_999;

/// Keys that were published together with their private halves: RFC 9421, B.1.4, and RFC 8037, A.1.
const TEST_KEYS: [&str; 2] =
    ["JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"];

/// Reads a directory. `None` after an error that says why it is none.
pub(crate) fn read<S: Strictness>(bytes: &[u8], diagnostics: &mut Diagnostics<S>) -> Option<Vec<Key>> {
    if bytes.len() > MOST_BYTES {
        let message = format!("the directory has {} bytes; the limit is {MOST_BYTES}", bytes.len());
        diagnostics.error(None, "SIG-7", message);
        return None;
    }
    let text = text::read(bytes, Expected { what: "JSON", requirement: Some("SIG-7") }, diagnostics)?;
    let mut reader = Reader { locator: Locator::new(bytes), diagnostics };
    let document = match slices::document(text) {
        Ok(document) => document,
        Err(SyntaxError { offset, message }) => {
            let position = reader.locator.position(offset);
            return reader.refuse(Some(position), &message);
        }
    };
    if let Some(offset) = slices::nested_deeper_than(text, DEEPEST) {
        let position = reader.locator.position(offset);
        return reader.refuse(Some(position), &format!("nested deeper than {DEEPEST} levels"));
    }
    let members = slices::members(document, &["keys"]);
    let Some(Members { values: [Some(list)], repeated: [None], .. }) = members else {
        return reader.refuse(None, "not a key directory: expected one object with one member `keys`");
    };
    let (mut keys, mut count) = (Vec::new(), 0);
    let read = slices::each_element(list, &mut |raw| {
        count += 1;
        if count <= MOST_KEYS {
            match key(raw) {
                Ok(key) => reader.add(&mut keys, raw, key),
                Err(why) => reader.lose(raw, &why),
            }
        }
        Some(())
    });
    if read.is_none() {
        let position = reader.at(list);
        return reader.refuse(position, "not a key directory: `keys` must be an array");
    }
    if count > MOST_KEYS {
        let message = format!("{count} keys; only the first {MOST_KEYS} are used");
        reader.diagnostics.lost(None, "SIG-7", message);
    }
    Some(keys)
}

struct Reader<'a, 'd, S> {
    locator: Locator<'a>,
    diagnostics: &'d mut Diagnostics<S>,
}

impl<'a, S: Strictness> Reader<'a, '_, S> {
    fn at(&mut self, raw: &'a RawValue) -> Option<Position> {
        self.locator.position_of(raw.get().as_bytes())
    }

    fn refuse(&mut self, position: Option<Position>, why: &str) -> Option<Vec<Key>> {
        self.diagnostics.error(position, "SIG-7", why);
        None
    }

    fn lose(&mut self, raw: &'a RawValue, why: &str) {
        let position = self.at(raw);
        self.diagnostics.lost(position, "SIG-7", format!("key ignored: {why}"));
    }

    fn add(&mut self, keys: &mut Vec<Key>, raw: &'a RawValue, key: FoundKey) {
        let position = self.at(raw);
        let FoundKey { key, kid, has_milliseconds } = key;
        if keys.iter().any(|known| known.thumbprint == key.thumbprint) {
            self.diagnostics.lint_error(position, "SIG-7", "duplicate key");
            return;
        }
        let print = Base64Url(&key.thumbprint);
        match kid {
            Some(kid) if kid != format!("{print}") => {
                let message = format!("`kid` is {}, not the thumbprint {print}", Quoted(&kid));
                self.diagnostics.lint_error(position, "SIG-3", message);
            }
            Some(_) => {}
            None => {
                let message = format_args!(r#"the key has no `kid`; add "kid": "{print}""#);
                self.diagnostics.lint_warning(position, "SIG-3", message);
            }
        }
        if has_milliseconds {
            let message = "`nbf` and `exp` are read in milliseconds; RFC 7519 has them in seconds";
            self.diagnostics.warning(position, "SIG-7", message);
        }
        keys.push(key);
    }
}

struct FoundKey {
    key: Key,
    kid: Option<String>,
    has_milliseconds: bool,
}

/// Reads a key, or says why it can't be used.
fn key(raw: &RawValue) -> Result<FoundKey, String> {
    const NAMES: [&str; 9] = ["kty", "crv", "x", "use", "alg", "nbf", "exp", "kid", "d"];
    let Some(Members { values, repeated, .. }) = slices::members(raw, &NAMES) else {
        return Err("it must be an object".into());
    };
    if let Some((name, _)) = NAMES.iter().zip(repeated).find(|(_, again)| again.is_some()) {
        return Err(format!("it has two members `{name}`"));
    }
    let [kty, crv, x, usage, algorithm, not_before, expires, kid, private] = values;
    let text = |raw: Option<&'_ RawValue>| raw.and_then(|raw| slices::string(raw).map(String::from));
    let (kty, crv, x) = (text(kty), text(crv), text(x));
    if (kty.as_deref(), crv.as_deref()) != (Some("OKP"), Some("Ed25519")) {
        let [kty, crv] = [&kty, &crv].map(|text| Quoted(text.as_deref().unwrap_or_default()));
        return Err(format!(
            r#"only keys with "kty": "OKP" and "crv": "Ed25519" are supported; this one has {kty} and {crv}"#
        ));
    }
    if private.is_some() {
        return Err("it contains its private half `d`, which is now public; replace the key".into());
    }
    if text(usage).is_some_and(|usage| usage != "sig") {
        return Err(r#"its `use` is not "sig""#.into());
    }
    let is_other = |algorithm: &str| !matches!(algorithm, "EdDSA" | "Ed25519" | "ed25519");
    if text(algorithm).as_deref().is_some_and(is_other) {
        return Err("its `alg` is not that of Ed25519".into());
    }
    let x = x.ok_or("it has no `x`")?;
    if TEST_KEYS.contains(&x.trim_end_matches('=')) {
        return Err("it is a test key of an RFC, whose private half is public; replace the key".into());
    }
    let mut public = [0; 33];
    let length = BASE64URL.decode_slice(&x, &mut public);
    let public =
        public.first_chunk().filter(|_| length == Ok(32)).ok_or("`x` must be 32 octets in base64url")?;
    let thumbprint = thumbprint(public);
    let public = VerifyingKey::from_bytes(public).ok().filter(|public| !public.is_weak());
    let public = public.ok_or("`x` is not a valid Ed25519 key")?;
    let mut has_milliseconds = false;
    let mut time = |raw: Option<&RawValue>, name| match raw {
        None => Ok(None),
        // A NumericDate (RFC 7519, 2) can have a fraction.
        Some(raw) => match whole_seconds(raw.get()) {
            Some(time) if time > LAST_SECOND => {
                has_milliseconds = true;
                Ok(Some(time / 1000))
            }
            Some(time) => Ok(Some(time)),
            None => Err(format!("`{name}` must be a time in seconds, without an exponent")),
        },
    };
    let key = Key::between(thumbprint, public, time(not_before, "nbf")?, time(expires, "exp")?);
    Ok(FoundKey { key, kid: text(kid), has_milliseconds })
}

/// The whole seconds of a number in JSON; none if it has an exponent.
fn whole_seconds(number: &str) -> Option<i64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.bytes().all(|byte| byte.is_ascii_digit()) { whole.parse().ok() } else { None }
}

#[cfg(test)]
pub(crate) mod tests;
