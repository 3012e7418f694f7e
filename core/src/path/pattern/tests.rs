use super::*;
use alloc::string::ToString;
use alloc::vec;
use proptest::prelude::*;

fn matches(pattern: &str, path: &str) -> bool {
    PathPattern::new(pattern.as_bytes()).unwrap().matches(RequestPath::new(path.as_bytes()))
}

#[test]
fn rob_3_stars_and_dollars() {
    // ROB-3: the patterns are those of RFC 9309, 5.2 and 2.2.3, and what operators write.
    for (pattern, yes, no) in [
        ("/", &["/", "/a", "/?q", ""][..], &["*", "a"][..]),
        ("*", &["/", "/a", "x"], &[]),
        ("/$", &["/", ""], &["/a", "//", "/?"]),
        (
            "/fish",
            &["/fish", "/fish.html", "/fish/x", "/fishes?id=1"],
            &["/Fish", "/catfish", "/?fish", "/fis"],
        ),
        ("/fish*", &["/fish", "/fishes"], &["/Fish"]),
        ("/fish/", &["/fish/", "/fish/a", "/fish/?x"], &["/fish", "/fish.html"]),
        ("/*.php", &["/x.php", "/.php", "/a/b.php?x", "/a.php/", "/a?x=.php"], &["/", "/x.PHP", "/php"]),
        ("/*.php$", &["/x.php", "/.php.php"], &["/x.php?y", "/x.php/", "/x.php5"]),
        ("/fish*.php", &["/fish.php", "/fishheads/cat.php?a"], &["/Fish.PHP", "/fis.php"]),
        ("/a*b*c$", &["/abc", "/axbxcxc", "/abcbc"], &["/ab", "/abcd", "/acb"]),
        ("/a**b", &["/ab", "/axb"], &["/a"]),
        ("/a*$", &["/a", "/ab"], &["/"]),
        ("/a$b", &["/a$b", "/a%24bc"], &["/a"]),
        ("/a$$", &["/a$"], &["/a", "/a$$"]),
        ("/a?b=*&c", &["/a?b=1&c=2"], &["/a?c&b=1"]),
        ("*/x$", &["/x", "/y/x"], &["/x/"]),
    ] {
        for path in yes {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for path in no {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }
}

#[test]
fn rob_3_both_sides_are_compared_in_normal_form() {
    // ROB-3: RFC 9309, 2.2.2 and 2.2.3.
    for (pattern, path) in [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar/\u{30C4}", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/\u{30C4}"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/~joe", "/%7ejoe"),
        ("/a%3cd.html", "/a%3Cd.html"),
        ("/a<d.html", "/a%3cd.html"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-%2a.html"),
        ("/path/foo-%24", "/path/foo-$"),
        ("/a b", "/a%20b"),
        ("/100%", "/100%"),
        ("/%zz%4", "/%zz%4"),
        ("/%%41", "/%A"),
        // The table of RFC 9309, 2.2.2.
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"),
        ("/*?*=https%3a//", "/a?b=c&d=https:%2F%2fe"),
        ("/*url=https%3A%2F%2F", "/a?url=https://b"),
        ("/*url=https%3A%2F%2F", "/a?url=https%3A%2f%2fb"),
        ("/*url=https%3A%2F%2F", "/url=https%3A%2f%2fb"),
        ("/*url=https://", "/a?url=https%3A%2f%2fb"),
        ("/*%3A*%3A$", "/%3A?:"),
        ("/*%3A*%3A$", "/a?::"),
        ("/*%3Aa?%3A", "/%3Aa?:"),
        ("/*%3Aa?%3A", "/x?:a?:"),
        ("/?a%5B0%5D=%40%3f", "/?a[0]=@?"),
    ] {
        assert!(matches(pattern, path), "{pattern} {path}");
    }
    for (pattern, path) in [
        ("/a%2fb", "/a/b"),
        ("/a/b", "/a%2Fb"),
        ("/a%3Fb", "/a?b"),
        ("/file-%2A.html", "/file-x.html"),
        ("/foo-%24", "/foo-"),
        ("/%2541", "/A"),
        ("/%2541", "/%41"),
        ("/a", "/A"),
        ("/%C3%A9", "/%E9"),
        // Before the query they are data, and these delimit in a query, too.
        ("/a%3Ab?c", "/a:b?c"),
        ("/*%3A", "/a:b"),
        ("/*%3A*%3A$", "/%3A:"),
        ("/?a%26b%3Dc", "/?a&b=c"),
        ("/?a#b", "/?a%23b"),
    ] {
        assert!(!matches(pattern, path), "{pattern} {path}");
    }
    assert!(RequestPath::new(b"/%72obots.txt").is(b"/robots.txt"));
}

#[test]
fn rob_2_length_is_that_of_the_normal_form() {
    // ROB-2
    for (pattern, length) in
        [("/", 1), ("/*.php$", 7), ("/%7Ea", 3), ("/\u{E9}", 7), ("/a**", 4), ("/a%2a*", 4)]
    {
        assert_eq!(PathPattern::new(pattern.as_bytes()).unwrap().length(), length, "{pattern}");
    }
    for (pattern, error) in
        [("", PatternError::Empty), ("a", PatternError::Start), ("$", PatternError::Start)]
    {
        assert_eq!(PathPattern::new(pattern.as_bytes()), Err(error));
    }
}

#[test]
fn auto_18_hostile_patterns_take_two_steps_an_octet() {
    // AUTO-18, ROB-3: counted, not timed. Each of these makes a backtracking matcher superlinear.
    const PATH: usize = 64 * 1024;
    let path = [b"/".to_vec(), vec![b'a'; PATH]].concat();
    let half = "a".repeat(500);
    for pattern in [
        "/".to_string() + &"*a".repeat(1000) + "b",
        "/".to_string() + &"*a".repeat(1000) + "b$",
        "/".to_string() + &"*a".repeat(1000) + "$",
        alloc::format!("/*{half}b*{half}b"),
        alloc::format!("/*{half}b{half}$"),
        "*".repeat(PATH) + "b",
        "/*aab*ab".to_string(),
    ] {
        let pattern = PathPattern::new(pattern.as_bytes()).unwrap();
        let (steps, _) = steps::of(|| pattern.matches(RequestPath::new(&path)));
        assert!(steps <= 2 * path.len(), "{steps}");
    }
    // If the literals differ in the query, each is looked for before it and in it.
    let path = alloc::format!("/{}?{}", "a%3A".repeat(PATH / 8), "a:".repeat(PATH / 8));
    for pattern in ["/".to_string() + &"*a%3A".repeat(PATH / 8) + "b", "/*a%3Aa%3Aa%3Ab*%3A".to_string()] {
        let pattern = PathPattern::new(pattern.as_bytes()).unwrap();
        let (steps, _) = steps::of(|| pattern.matches(RequestPath::new(path.as_bytes())));
        assert!(steps <= 4 * path.len(), "{steps}");
    }
}

proptest! {
    #[test]
    fn what_goes_ahead_in_a_plain_path_finds_what_a_reader_of_each_octet_finds(
        pattern in "/[ab/*?]{0,12}\\$?",
        path in "/[ab/?]{0,40}",
    ) {
        let pattern = PathPattern::new(pattern.as_bytes()).unwrap();
        let each_octet = pattern.matches_octets(Octets::new(path.as_bytes()));
        prop_assert_eq!(pattern.matches(RequestPath::new(path.as_bytes())), each_octet);
    }
}
