use serde_json::Value;

use crate::fixture::Folder;

const PAGE: &str = "<title>Bread</title><nav><a href=/>Home</a></nav>\
    <main><p>Mix <b>flour</b> and <a href=/water>water</a>.</main>";

#[test]
fn a_page_becomes_markdown_without_its_navigation() {
    let folder = Folder::new();
    folder.write("page.html", PAGE);
    let arguments = ["aiwebindex", "document", "page.html", "--url", "https://example.com/bread"];
    let done = folder.run(&arguments);
    assert_eq!((done.status, done.stderr.as_str()), (0, ""));
    done.prints_only("# Bread\n\nMix **flour** and [water](https://example.com/water).\n");
    folder
        .run_with(&["aiwebindex", "document", "-"], PAGE)
        .prints_only("# Bread\n\nMix **flour** and [water](/water).\n");
}

#[test]
fn a_page_becomes_a_document_if_its_url_is_known() {
    // AIWI-6
    let folder = Folder::new();
    folder.write("page.html", PAGE);
    folder.run(&["aiwebindex", "document", "page.html", "--format", "json"]).ends(2);
    let url = "https://example.com/bread";
    let done = folder.run(&["aiwebindex", "document", "page.html", "--format", "json", "--url", url]);
    let document: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(document["schema"]["version"], "2.0");
    assert_eq!(document["source"]["url"], url);
    assert_eq!(document["identity"]["title"], "Bread");
}

#[test]
fn what_stands_in_the_way_of_a_document_is_a_warning() {
    let folder = Folder::new();
    folder.write("page.html", format!("<head><meta name=robots content=nosnippet></head>{PAGE}"));
    let done = folder.run(&["aiwebindex", "document", "page.html"]);
    done.ends(0);
    assert!(done.stderr.starts_with("page.html: warning: the page forbids"), "{done:?}");
    folder.write("page.html", format!("{PAGE}{}", "<p>More of it.</p>".repeat(200_000)));
    let done = folder.run(&["aiwebindex", "document", "page.html"]);
    assert!(done.stderr.starts_with("page.html: warning: the page is over a limit"), "{:?}", done.stderr);
}

#[test]
fn a_document_of_version_1_becomes_one_of_version_2() {
    // AIWI-13
    let folder = Folder::new();
    folder.write(
        "old.json",
        r##"{ "url": "https://example.com/bread", "title": "Bread", "markdown": "# Bread\n" }"##,
    );
    let done = folder.run(&["aiwebindex", "document", "old.json", "--upgrade"]);
    let document: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(document["schema"]["version"], "2.0");
    assert_eq!(document["content"]["markdown"], "# Bread\n");
    folder.write("old.json", "{\n \"markdown\": 1 x}");
    let done = folder.run(&["aiwebindex", "document", "old.json", "--upgrade"]);
    done.ends(2);
    assert!(done.stderr.starts_with("old.json:2:16: error: "), "{done:?}");
}

#[test]
fn a_page_of_which_little_is_left_gives_a_warning_with_both_numbers() {
    let folder = Folder::new();
    folder
        .write("shell.html", "<title>A page</title><div id=root>Loading…</div><script src=/app.js></script>");
    folder.write("page.html", "<title>A page</title><p>The ferry leaves at seven, whatever the weather is.");
    folder.write("closed.html", "<meta name=robots content=nosnippet><p>The ferry leaves at seven.");
    let done = folder.run(&["aiwebindex", "document", "shell.html"]);
    assert!(
        done.stderr.starts_with("shell.html: warning: 10 of 10 bytes of text are in the document"),
        "{}",
        done.stderr
    );
    assert_eq!(folder.run(&["aiwebindex", "document", "page.html"]).stderr, "");
    for (page, outcome) in [("shell.html", "thin: "), ("page.html", "made: "), ("closed.html", "nosnippet: ")]
    {
        let done = folder.run(&["aiwebindex", "document", page, "--why"]);
        done.ends(0);
        assert!(done.stdout.starts_with(outcome), "{page}: {}", done.stdout);
    }
}
