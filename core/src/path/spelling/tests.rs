use alloc::string::{String, ToString};

use super::*;

fn resolved(target: &str, spelling: Spelling) -> String {
    let mut room = [0; LONGEST];
    String::from_utf8(resolve(target.as_bytes(), spelling, &mut room).to_vec()).unwrap()
}

#[test]
fn both_orders_resolve_dots_and_slashes() {
    for (sent, expected) in [
        ("//private", "/private"),
        ("/./private", "/private"),
        ("/x/../private", "/private"),
        ("/%2e/private", "/private"),
        ("/x/.%2E/%2e%2e/../private/", "/private/"),
        ("/a/b/c/./../../g", "/a/g"),
        ("/mid/content=5/../6", "/mid/6"),
        ("/a/.", "/a/"),
        ("/a/..", "/"),
        ("/..", "/"),
        ("//", "/"),
        ("/a//", "/a/"),
        ("/a//b///c", "/a/b/c"),
        ("/a/../?b=/../c//d", "/?b=/../c//d"),
        ("/a#/../b", "/a"),
        ("/a?b#c", "/a?b"),
        ("/...//.a/%2e.b/..%2d", "/.../.a/%2e.b/..%2d"),
    ] {
        assert_eq!(resolved(sent, Spelling::SlashesFirst), expected, "{sent}");
        assert_eq!(resolved(sent, Spelling::DotsFirst), expected, "{sent}");
        assert_eq!(resolved(sent, Spelling::Sent), sent);
        assert!(is_resolved(expected.as_bytes()), "{expected}");
        assert_eq!(is_resolved(sent.as_bytes()), sent == expected, "{sent}");
    }
    for plain in
        ["", "*", "a//b%2F", "?//", "/", "/a", "/a/", "/.a", "/a.", "/%2ea", "/%2", "/a?//../%2F", "/a?#"]
    {
        assert_eq!(is_resolved(plain.as_bytes()), !plain.contains('#'), "{plain}");
    }
}

#[test]
fn the_orders_differ_where_dots_follow_slashes() {
    for (sent, slashes_first, dots_first) in
        [("/a//../b", "/b", "/a/b"), ("/a/.//..", "/", "/a/"), ("//../a///../../b", "/b", "/a/b")]
    {
        assert_eq!(resolved(sent, Spelling::SlashesFirst), slashes_first, "{sent}");
        assert_eq!(resolved(sent, Spelling::DotsFirst), dots_first, "{sent}");
    }
}

#[test]
fn encoded_reserved_characters_are_decoded_in_a_form_of_their_own() {
    for (sent, slashes_first, decoded) in [
        ("/private%2Fa?b%2Fc", "/private%2Fa?b%2Fc", "/private/a?b%2Fc"),
        ("/x%2f..%2F%2e%2fprivate%2f", "/x%2f..%2F%2e%2fprivate%2f", "/private/"),
        ("/a%2F%2F..//%2f/b", "/a%2F%2F../%2f/b", "/b"),
        ("/%2F", "/%2F", "/"),
        ("/a%252F..%2", "/a%252F..%2", "/a%252F..%2"),
        ("/wiki/Special%3aa%3A?b%3A", "/wiki/Special%3aa%3A?b%3A", "/wiki/Special:a:?b%3A"),
        (
            "/%21%24%26%27%28%29%2A%2B%2C%3B%3D%40%5B%5D",
            "/%21%24%26%27%28%29%2A%2B%2C%3B%3D%40%5B%5D",
            "/!$&'()*+,;=@[]",
        ),
        ("/a%3Fb%23c%25d%3Ce%3e%5E", "/a%3Fb%23c%25d%3Ce%3e%5E", "/a%3Fb%23c%25d%3Ce%3e%5E"),
        ("/%3%3A%2%2c%%3b", "/%3%3A%2%2c%%3b", "/%3:%2,%;"),
    ] {
        assert_eq!(resolved(sent, Spelling::SlashesFirst), slashes_first, "{sent}");
        assert_eq!(resolved(sent, Spelling::Decoded), decoded, "{sent}");
        assert_eq!(is_resolved(decoded.as_bytes()), !decoded.contains(';'), "{decoded}");
        assert_eq!(is_resolved(sent.as_bytes()), sent == decoded, "{sent}");
    }
}

#[test]
fn what_is_judged_of_a_longer_path_is_as_much_as_fits() {
    let long = "x".repeat(LONGEST);
    let cut = |text: &str| String::from(text.get(..LONGEST).unwrap());
    let resolved = |target: String| resolved(&target, Spelling::SlashesFirst);
    assert_eq!(resolved(alloc::format!("//private/{long}/a?b")), cut(&alloc::format!("/private/{long}")));
    assert_eq!(resolved(alloc::format!("//private?{long}")), cut(&alloc::format!("/private?{long}")));
    assert_eq!(resolved(alloc::format!("//{long}/../private/a?b")), "/private/a?b");
    assert_eq!(resolved(alloc::format!("/a/{long}/b/../../c//d")), "/a/c/d");
    // Of a pattern, all or nothing.
    let pattern =
        |length| Spelling::SlashesFirst.of_pattern(alloc::format!("//{}", "y".repeat(length)).as_bytes());
    assert_eq!(pattern(LONGEST - 2).map(|resolved| resolved.len()), Some(LONGEST - 1));
    assert_eq!(pattern(LONGEST - 1), None);
    let many = "/a/..".repeat(LONGEST);
    assert_eq!(resolved(alloc::format!("{many}/private")), "/private");
    assert_eq!(resolved("/".repeat(LONGEST * 2)), "/");
}

#[test]
fn parameters_are_cut_off_in_a_form_of_their_own() {
    for (sent, decoded, without) in [
        ("/x/..;/private", "/x/..;/private", "/private"),
        ("/x/..;a=b/private?c;d", "/x/..;a=b/private?c;d", "/private?c;d"),
        ("/private;x/a;y", "/private;x/a;y", "/private/a"),
        ("/;x/private/.;", "/;x/private/.;", "/private/"),
        ("/x/..%3B/private", "/x/..;/private", "/private"),
        ("/x%2F..;/private", "/x/..;/private", "/private"),
        // Encoded characters in parameters separate nothing, as Tomcat reads it.
        ("/x;%2F../private", "/private", "/x/private"),
        ("/a?b;c", "/a?b;c", "/a?b;c"),
    ] {
        assert_eq!(resolved(sent, Spelling::SlashesFirst), sent);
        assert_eq!(resolved(sent, Spelling::Decoded), decoded, "{sent}");
        assert_eq!(resolved(sent, Spelling::WithoutParameters), without, "{sent}");
        assert!(is_resolved(without.as_bytes()), "{without}");
        assert_eq!(is_resolved(sent.as_bytes()), sent == without, "{sent}");
    }
}

#[test]
fn backslashes_separate_where_envoy_and_windows_read_them_so() {
    for (sent, dots_first, decoded) in [
        (r"/\private", "/private", "/private"),
        (r"/x\..\private\a?b\c", r"/private/a?b\c", r"/private/a?b\c"),
        (r"/a/\../b", "/a/b", "/b"),
        ("/x/..%5cprivate%5C", "/x/..%5cprivate%5C", "/private/"),
        ("/a%255C..%5", "/a%255C..%5", "/a%255C..%5"),
    ] {
        assert_eq!(resolved(sent, Spelling::SlashesFirst), sent);
        assert_eq!(resolved(sent, Spelling::DotsFirst), dots_first, "{sent}");
        assert_eq!(resolved(sent, Spelling::Decoded), decoded, "{sent}");
        assert_eq!(is_resolved(sent.as_bytes()), sent == decoded, "{sent}");
    }
}

#[test]
fn a_fragment_is_data_in_a_form_of_its_own() {
    for (sent, expected) in [("/x/#/../../private#a?b#c", "/x/%23/../../private%23a?b#c"), ("/x?#", "/x?#")] {
        assert_eq!(resolved(sent, Spelling::WithFragment), expected);
        assert_eq!(has_fragment(sent.as_bytes()), sent != expected);
    }
    let long = "#".repeat(LONGEST);
    assert_eq!(resolved(&long, Spelling::WithFragment).len(), LONGEST);
}

#[test]
fn rob_7_patterns_are_resolved_as_paths_are() {
    // ROB-7: in the order of `Spelling::RESOLVED`; what a pattern shares with a path it shares resolved.
    for (written, expected) in [
        ("/a/*b$", ["/a/*b$"; 4]),
        ("/a//b", ["/a/b"; 4]),
        ("*//b", ["*/b"; 4]),
        ("/web/*/http://", ["/web/*/http:/"; 4]),
        (
            "/wiki/Special%3aS",
            ["/wiki/Special%3aS", "/wiki/Special%3aS", "/wiki/Special:S", "/wiki/Special:S"],
        ),
        ("/a%2Fb%2A%24*$", ["/a%2Fb%2A%24*$", "/a%2Fb%2A%24*$", "/a/b%2A%24*$", "/a/b%2A%24*$"]),
        ("/a/./b/../c", ["/a/c"; 4]),
        ("/a//../b", ["/b", "/a/b", "/b", "/b"]),
        ("/a;x=*/b", ["/a;x=*/b", "/a;x=*/b", "/a;x=*/b", "/a/b"]),
        // The last segment may go on.
        ("/a/..", ["/a/.."; 4]),
        ("/a/.", ["/a/."; 4]),
        ("/a/.$", ["/a/$"; 4]),
        ("/a/..?b", ["/?b"; 4]),
        ("/a?b//c;d%2F", ["/a?b//c;d%2F"; 4]),
    ] {
        for (spelling, expected) in Spelling::RESOLVED.into_iter().zip(expected) {
            let resolved = spelling.of_pattern(written.as_bytes());
            let resolved = resolved.map_or(written.to_string(), |text| String::from_utf8(text).unwrap());
            assert_eq!(resolved, expected, "{written} {spelling:?}");
        }
    }
    let long = "/a//".repeat(LONGEST);
    assert_eq!(Spelling::SlashesFirst.of_pattern(long.as_bytes()), None);
}
