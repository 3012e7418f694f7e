//! Compared with `sfv`: what both accept says the same, and where one refuses what the other accepts, it is for a reason that the
//! module states.

use super::*;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use proptest::prelude::*;
use sfv::{ListEntry, Parser, SerializeValue};

fn canonical(write: impl FnOnce(&mut Vec<u8>) -> Result<(), Unwritable>) -> Option<String> {
    let mut text = Vec::new();
    write(&mut text).ok()?;
    Some(String::from_utf8(text).unwrap())
}

impl Write for Vec<u8> {
    fn write(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Returns true if a value was read in full. The content of bytes and of display strings is not looked at before
/// somebody needs it.
fn is_whole(value: Bare<'_>) -> bool {
    !matches!(value, Bare::Bytes(_) | Bare::Other([b'%', ..]))
}

fn is_whole_item(item: Item<'_>) -> bool {
    is_whole(item.value) && item.parameters.written().all(|(_, value)| is_whole(value))
}

fn is_whole_member(member: Member<'_>) -> bool {
    match member {
        Member::Item(item) => is_whole_item(item),
        Member::List(list) => {
            list.items().all(is_whole_item) && list.parameters.written().all(|(_, value)| is_whole(value))
        }
    }
}

/// A member as `sfv` writes it.
fn written(entry: &ListEntry) -> String {
    Vec::from([entry.clone()]).serialize_value().unwrap()
}

fn read(line: &str) -> Result<Vec<(&str, Member<'_>)>, Malformed> {
    let line = core::iter::once(line.as_bytes());
    members(line).map(|member| member.map(|(key, member)| (str::from_utf8(key).unwrap(), member))).collect()
}

/// A line as `sfv` is to get it: tabs around a value do not belong to it (RFC 9110, 5.5).
fn trim(line: &str) -> &str {
    line.trim_matches([' ', '\t'])
}

/// Returns true if a line may have more parameters or items than are read.
fn is_over_limits(line: &str) -> bool {
    let count = |wanted| line.bytes().filter(|byte| *byte == wanted).count();
    count(b';') > Parameters::MOST || count(b' ') > InnerList::MOST
}

/// Compares one line, read as a dictionary.
fn compare(line: &str) {
    let (ours, theirs) = (read(line), Parser::new(trim(line)).parse_dictionary());
    match (&ours, &theirs) {
        (Err(Malformed), Err(_)) => {}
        (Err(Malformed), Ok(_)) => assert!(is_over_limits(line), "{line}"),
        (Ok(members), Err(error)) => {
            assert!(members.iter().any(|(_, member)| !is_whole_member(*member)), "{line}: {error}");
        }
        (Ok(members), Ok(dictionary)) => {
            let mut keys: Vec<&str> = members.iter().map(|(key, _)| *key).collect();
            keys.sort_unstable();
            let has_repeated = keys.windows(2).any(|pair| pair.first() == pair.last());
            assert_eq!(has_repeated, dictionary.len() < members.len(), "{line}");
            for (key, entry) in dictionary {
                let found = member(core::iter::once(line.as_bytes()), key.as_str().as_bytes());
                match found {
                    Ok(Some(found)) => match canonical(|text| found.write(text)) {
                        Some(text) => assert_eq!(text, written(entry), "{line}"),
                        // A decimal, a date, a display string, or bytes with a second spelling.
                        None => assert!(written(entry).contains(['.', '@', '%', ':']), "{line}"),
                    },
                    other => panic!("{line}: {key:?}: {other:?}"),
                }
            }
        }
    }
}

/// Compares one line, read as an item.
fn compare_item(line: &str) {
    match (item(core::iter::once(line.as_bytes())), Parser::new(trim(line)).parse_item()) {
        (Err(Malformed), Err(_)) => {}
        (Err(Malformed), Ok(_)) => assert!(is_over_limits(line), "{line}"),
        (Ok(item), Err(error)) => assert!(!is_whole_item(item), "{line}: {error}"),
        (Ok(item), Ok(theirs)) => {
            let theirs = theirs.serialize_value();
            match canonical(|text| Member::Item(item).write(text)) {
                Some(text) => assert_eq!(text, theirs, "{line}"),
                None => assert!(theirs.contains(['.', '@', '%', ':']), "{line}"),
            }
        }
    }
}

/// A value as the three headers have it, or of another type.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => r#""(@authority|@path|https://[a-z]{1,4}\.test|web-bot-auth|[ !#-\[\]-~]{0,4}|\\"|\\\\)""#,
        2 => "-?[0-9]{1,15}",
        2 => ":([A-Za-z0-9+/]{4}){0,6}(|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}):",
        1 => "[a-zA-Z*][a-z:/!0-9]{0,4}",
        1 => r"\?[01]",
        1 => r"-?[0-9]{1,12}\.[0-9]{1,3}",
        1 => "@[0-9]{1,10}",
        1 => r#"%"([a-z ]|%c3%a9){0,3}""#,
    ]
}

fn parameters() -> impl Strategy<Value = String> {
    let key =
        prop_oneof![Just("created"), Just("expires"), Just("keyid"), Just("tag"), Just("key"), Just("*")];
    let one = (" {0,2}", key, proptest::option::of(value())).prop_map(|(blanks, key, value)| match value {
        Some(value) => format!(";{blanks}{key}={value}"),
        None => format!(";{blanks}{key}"),
    });
    proptest::collection::vec(one, 0..4).prop_map(|all| all.concat())
}

fn line() -> impl Strategy<Value = String> {
    let item = || (value(), parameters()).prop_map(|(value, parameters)| value + &parameters);
    let list = (proptest::collection::vec(item(), 0..4), " {0,2}", parameters());
    let list = list.prop_map(|(items, blanks, parameters)| {
        format!("({blanks}{}{blanks}){parameters}", items.join(&format!(" {blanks}")))
    });
    let member = prop_oneof![
        item().prop_map(|item| format!("={item}")),
        list.prop_map(|list| format!("={list}")),
        parameters(),
    ];
    let member = ("(sig[12]|[a-z*][a-z0-9_.*-]{0,2})", member).prop_map(|(key, value)| key + &value);
    (proptest::collection::vec(member, 0..4), " {0,2}", "[ \t]{0,2},[ \t]{0,2}", " {0,2}")
        .prop_map(|(all, before, comma, after)| format!("{before}{}{after}", all.join(&comma)))
}

/// A line in which a few characters are replaced, removed or doubled.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (any::<proptest::sample::Index>(), 0..3_u8, "[ -~\t]");
    (line(), proptest::collection::vec(edit, 1..4)).prop_map(|(line, edits)| {
        let mut line: Vec<char> = line.chars().collect();
        for (place, edit, other) in edits {
            let place = place.index(line.len() + 1);
            match edit {
                0 if place < line.len() => _ = line.remove(place),
                1 if place < line.len() => line[place] = other.chars().next().unwrap(),
                _ => line.splice(place..place, other.chars()).for_each(drop),
            }
        }
        line.into_iter().collect()
    })
}

/// SIG-12. Nobody looks at the content of a parameter that a later one replaces.
#[test]
fn sig_12_a_replaced_parameter_is_not_looked_at() {
    compare(r#"a=(A;created);created;key=%"c3%a9%c3%a9";key,sig1=()  "#);
    compare_item(r#"A;key=%"c3%a9";key"#);
}

proptest! {
    /// SIG-11, SIG-12.
    #[test]
    fn sig_11_lines_are_what_sfv_reads(line in line()) {
        compare(&line);
        compare_item(line.split_once('=').map_or(&line, |(_, value)| value));
    }

    /// SIG-12.
    #[test]
    fn sig_12_damaged_lines_are_what_sfv_reads(line in mutated()) {
        compare(&line);
        compare_item(line.split_once('=').map_or(&line, |(_, value)| value));
    }
}
