//! Texts where the path of a file belongs.

/// The kind of a text that stands where the path of a file belongs, with advice; `None`: it may be a path.
pub(super) fn instead_of_path(text: &str) -> Option<&'static str> {
    let is_rule = || {
        let name = text.split(':').next().unwrap_or_default().trim_ascii();
        text.contains(':')
            && ["user-agent", "disallow", "allow", "scope", "sitemap"]
                .iter()
                .any(|known| name.eq_ignore_ascii_case(known))
    };
    if text.contains("://") {
        Some("this is a URL, and not the path of a file; a file that is fetched needs a path beside its URL")
    } else if text.contains('\n') || text.starts_with(['{', '<']) || is_rule() {
        Some(
            "this is the content of a file, and not its path; write it to a file, or to `files`, and its name here",
        )
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};

    use crate::{Files, FoundFile, Ruleset};

    /// No file can be read.
    struct Unreadable;

    impl Files for Unreadable {
        fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
            if path.starts_with("private") { Err("permission denied".into()) } else { Ok(None) }
        }
    }

    fn said(document: &str) -> String {
        let compiled = Ruleset::compile("c.json", document.as_bytes(), &Unreadable);
        compiled.diagnostics.iter().map(ToString::to_string).collect::<alloc::vec::Vec<_>>().join("\n")
    }

    #[test]
    fn content_or_a_url_in_place_of_a_path_is_named_as_such() {
        let policy = |text: &str| said(&format!(r#"{{ "sites": [ {{ "robots_txt": {text} }} ] }}"#));
        let content = "this is the content of a file, and not its path; write it to a file, or to `files`, and its name here";
        let url =
            "this is a URL, and not the path of a file; a file that is fetched needs a path beside its URL";
        for (text, shown, advice) in [
            (r#""User-agent: *\nDisallow: /""#, r#""User-agent: *\nDisallow: /""#, content),
            (r#""Disallow: /""#, r#""Disallow: /""#, content),
            (r#""https://example.com/robots.txt""#, r#""https://example.com/robots.txt""#, url),
        ] {
            assert_eq!(policy(text), format!("c.json:1:30: error: {shown}: {advice}"));
        }
        assert_eq!(policy(r#""robots.txt""#), "c.json:1:30: error: there is no file robots.txt");
        let feed = |source: &str| {
            let feed = format!(r#"{{ "name": "a", "format": "jafar", "source": "{source}" }}"#);
            said(&format!(
                r#"{{ "catalog": "none", "feeds": [ {feed} ], "agents": [ {{ "token": "ABot", "feeds": ["a"] }} ] }}"#
            ))
        };
        let place = "c.json:1:77: error: ";
        assert!(
            feed("https://a.test/ip.json").starts_with(&format!("{place}\"https://a.test/ip.json\": {url}"))
        );
        assert!(feed("{}").starts_with(&format!("{place}\"{{}}\": {content}")), "{}", feed("{}"));
        // Of a file that cannot be read, the place of its name in the document.
        assert_eq!(feed("private.json"), format!("{place}can't read private.json: permission denied"));
    }
}
