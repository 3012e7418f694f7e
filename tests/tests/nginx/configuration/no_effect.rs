//! Directives that have no effect where they are.

use crawlpike_tests::lab::{DOCUMENT, lab};
use crawlpike_tests::nginx::Folder;

use super::{LOAD, check};

/// The warnings of `nginx -t`, each without the folder.
fn warnings(folder: &Folder, http: &str) -> Vec<String> {
    let (passes, text) = check(folder, http);
    assert!(passes, "{text}");
    let place = format!("{}/", folder.path().display());
    let lines = text.lines().filter_map(|line| line.strip_prefix("nginx: [warn] crawlpike: "));
    lines.map(|line| line.replace(&place, "")).collect()
}

/// The line of nginx.conf that has a text.
fn line_of(folder: &Folder, text: &str) -> usize {
    1 + folder.read("nginx.conf").lines().position(|line| line.contains(text)).unwrap()
}

#[test]
fn what_has_no_effect_without_a_document_is_told_with_its_place() {
    let folder = lab();
    let directives = [
        "crawlpike enforce;",
        "crawlpike_refresh 1m;",
        "crawlpike_deny_status 404;",
        "crawlpike_log_level warn;",
        "crawlpike_trust_header on;",
        "crawlpike_site shop;",
        "crawlpike_status;",
    ];
    let http = format!(
        "{}\nserver {{ location / {{\n{}\n}} }}\n",
        directives[..5].join("\n"),
        directives[5..].join("\n")
    );
    let expected: Vec<String> = warnings(&folder, &http);
    let lines = directives.map(|directive| {
        let (name, line) = (directive.split([' ', ';']).next().unwrap(), line_of(&folder, directive));
        format!(r#""{name}" directive has no effect without "crawlpike_config" in nginx.conf:{line}"#)
    });
    assert_eq!(expected, lines);
    // It may come last.
    let document = folder
        .read("crawlpike.json")
        .replace(r#""catalog""#, r#""sites": [ { "name": "shop" } ], "catalog""#);
    folder.write("crawlpike.json", document);
    assert_eq!(
        warnings(&folder, &format!("{}{LOAD}", http.replace("crawlpike_trust_header on;", ""))),
        [""; 0]
    );
}

#[test]
fn a_header_is_trusted_in_vain_where_the_mode_is_never_off() {
    let folder = lab();
    let in_vain = |http: &str| {
        let warnings = warnings(&folder, &format!("{LOAD}\n{http}"));
        let expected = r#""crawlpike_trust_header" directive has no effect, because the mode is never "off" here in nginx.conf:"#;
        assert!(warnings.iter().all(|warning| warning.starts_with(expected)), "{warnings:?}");
        warnings.len()
    };
    for (http, expected) in [
        ("crawlpike_trust_header on; server { }", 1),
        ("crawlpike_trust_header off; server { }", 0),
        ("crawlpike_trust_header on; crawlpike off; server { }", 0),
        ("crawlpike_trust_header on; server { crawlpike enforce; location / { crawlpike off; } }", 0),
        ("crawlpike_trust_header on; server { crawlpike enforce; location / { crawlpike observe; } }", 1),
        ("server { crawlpike $args; crawlpike_trust_header on; }", 0),
        ("server { crawlpike off; location / { crawlpike enforce; crawlpike_trust_header on; } }", 1),
        ("server { crawlpike_trust_header on; location / { crawlpike_status; } }", 0),
    ] {
        assert_eq!(in_vain(http), expected, "{http}");
    }
    for mode in [r#""mode": "off","#, r#""sites": [ { "modes": [ { "scope": "/a", "mode": "off" } ] } ],"#] {
        folder.write("crawlpike.json", DOCUMENT.replace(r#""mode": "enforce","#, mode));
        assert_eq!(in_vain("crawlpike_trust_header on; server { }"), 0, "{mode}");
    }
}
