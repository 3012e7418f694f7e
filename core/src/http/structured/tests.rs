use super::*;
use alloc::string::String;
use alloc::vec::Vec;

fn written(write: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), Unwritable>) -> Option<String> {
    let mut text = Vec::new();
    write(&mut |bytes: &[u8]| text.extend_from_slice(bytes)).ok()?;
    Some(String::from_utf8(text).unwrap())
}

fn canonical(lines: &[&str], key: &str) -> Result<Option<Option<String>>, Malformed> {
    let member = member(lines.iter().map(|line| line.as_bytes()), key.as_bytes())?;
    Ok(member.map(|member| written(|mut to| member.write(&mut to))))
}

/// SIG-7.
#[test]
fn sig_7_the_parameters_of_a_value_are_bounded() {
    let line = |count| ["a=1", &";p".repeat(count)].concat();
    assert!(canonical(&[&line(Parameters::MOST)], "a").is_ok());
    assert!(canonical(&[&line(Parameters::MOST + 1)], "a").is_err());
}

/// SIG-11.
#[test]
fn sig_11_members_are_written_canonically() {
    for (line, expected) in [
        (r#"a=("x"   "y" );b=01;c"#, r#"("x" "y");b=1;c"#),
        ("a=( )", "()"),
        ("a", "?1"),
        ("a;x=?1;y=?0", "?1;x;y=?0"),
        ("a=-0", "0"),
        ("a=-007;  b=tok/en:x", "-7;b=tok/en:x"),
        (r#"a="\"\\" ,b=1"#, r#""\"\\""#),
        ("a=:AAECAw==:", ":AAECAw==:"),
        ("a=::", "::"),
        ("  a=*x  ", "*x"),
        ("a=1;b=1;c;b=2", "1;b=2;c"),
    ] {
        assert_eq!(canonical(&[line], "a"), Ok(Some(Some(expected.into()))), "{line}");
    }
    for line in ["a=1.5", "a=@7", r#"a=%"x""#, "a=:AAECAw:", "a=:AAECAx==:", "a=:A:"] {
        assert_eq!(canonical(&[line], "a"), Ok(Some(None)), "{line}: not implemented");
    }
}

/// SIG-12.
#[test]
fn sig_12_what_is_no_dictionary_is_malformed() {
    for line in [
        "a=",
        "a=(",
        "a=(\"x\"",
        "a=(\"x\"\"y\")",
        "a=\"x",
        "a=\"\\x\"",
        "a=\"\u{7f}\"",
        "a,",
        ",a",
        "a b",
        "A=1",
        "=1",
        "a=1;;b",
        "a=1;B",
        "a=:b",
        "a=?2",
        "a=@1.5",
        "a=1.",
        "a=1.2345",
        "a=1234567890123456",
        "a=--1",
        "a=é",
        "a=1\t;b",
        "a=(1\t2)",
        "a=1 b=2",
    ] {
        assert_eq!(canonical(&[line], "a"), Err(Malformed), "{line}");
    }
    let many: String = (0..17).map(|number| alloc::format!(";p{number}")).collect();
    assert_eq!(canonical(&[&alloc::format!("a{many}")], "a"), Err(Malformed));
}

/// SIG-11.
#[test]
fn sig_11_lines_are_one_dictionary() {
    assert_eq!(canonical(&["a=1", "", "b=2 , c=3"], "c"), Ok(Some(Some("3".into()))));
    assert_eq!(canonical(&["a=1"], "b"), Ok(None));
    assert_eq!(canonical(&["a=1", "a=2"], "a"), Ok(Some(Some("2".into()))));
    assert_eq!(canonical(&["a=1", "b=("], "a"), Err(Malformed));
}

#[test]
fn one_item_is_read_alone() {
    let read = |lines: &[&'static str]| item(lines.iter().map(|line| line.as_bytes())).map(|item| item.value);
    assert_eq!(read(&[" \"https://a.test\" "]), Ok(Bare::String(b"https://a.test")));
    for lines in [&[][..], &["a=1"], &["\"a\", \"b\""], &["\"a\"", "\"b\""], &[""]] {
        assert_eq!(read(lines), Err(Malformed), "{lines:?}");
    }
}

#[test]
fn octets_are_decoded_with_and_without_padding() {
    assert_eq!(decode::<4>(b"AAECAw=="), Some([0, 1, 2, 3]));
    assert_eq!(decode::<4>(b"AAECAw"), Some([0, 1, 2, 3]));
    assert_eq!((decode::<4>(b"AAEC"), decode::<4>(b"AAECAwQ="), decode::<4>(b"A=AA")), (None, None, None));
}
