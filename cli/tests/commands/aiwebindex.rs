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
    folder
        .run(&["aiwebindex", "document", "page.html", "--format", "json"])
        .ends(2)
        .says("give the URL of the page with --url");
    for (url, reason) in [
        ("javascript:1", "the scheme is javascript; it must be https or http"),
        ("file:///etc/x", "the scheme is file; it must be https or http"),
        ("", "it must begin with https:// or http://"),
        ("https://user:password@example.com/", "user names and passwords in it are not supported"),
        ("http://", "empty host"),
    ] {
        folder.run(&["aiwebindex", "document", "page.html", "--url", url]).ends(2).says(reason);
    }
    folder.run(&["aiwebindex", "document", "http://[::1"]).ends(2).says("invalid URL \"http://[::1\": ");
    // AIWI-5: a fragment leads to a place in the page.
    let url = "https://example.com/bread";
    let given = format!("{url}#flour");
    let done = folder.run(&["aiwebindex", "document", "page.html", "--format", "json", "--url", &given]);
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
    done.says_only("page.html: warning: the page has more than 2097152 bytes; the rest of it is left out\n");
    folder.run(&["aiwebindex", "document", "page.html", "--why"]).prints("size: ").says_only("");
    folder.write("page.html", format!("<p>Text {}", "<i></i>".repeat(270_000)));
    folder
        .run(&["aiwebindex", "document", "page.html", "--why"])
        .prints("depth: the page is over a limit (262144 elements, ");
    folder.write("page.html", "");
    folder.run(&["aiwebindex", "document", "page.html"]).says_only("page.html: warning: the page is empty\n");
    folder.run(&["aiwebindex", "document", "page.html", "--why"]).prints_only("broken: the page is empty\n");
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
    for (content, reason) in [
        ("", "old.json: error: the file is empty\n"),
        (
            PAGE,
            "old.json: error: this is HTML, not an AIDocument; to convert a page, leave out `--upgrade`\n",
        ),
        (
            r#"{ "url": "https://a.example/", "markdown": "", "meta": [] }"#,
            "old.json: error: `meta`: expected an object, found an array\n",
        ),
    ] {
        folder.write("old.json", content);
        folder.run(&["aiwebindex", "document", "old.json", "--upgrade"]).ends(2).says_only(reason);
    }
    let done = folder.run(&["aiwebindex", "document", "http://example.com/old.json", "--upgrade"]);
    done.ends(2).says("`--upgrade` reads a file");
}

#[test]
fn values_that_an_upgraded_document_lacks_are_warnings() {
    // AIWI-13
    let folder = Folder::new();
    let links = vec![serde_json::json!({ "url": "javascript:1" }); 102];
    let old = serde_json::json!({ "url": "https://example.com/", "markdown": "", "links": links });
    folder.write("old.json", old.to_string());
    let done = folder.run(&["aiwebindex", "document", "old.json", "--upgrade"]);
    let first = "old.json: warning: `links[0].url`: \"javascript:1\" is not the address of a page or a file; left out\n";
    assert!(done.stderr.starts_with(first), "{done:?}");
    assert!(done.stderr.ends_with("old.json: warning: not shown: warnings 2\n"), "{done:?}");
    // In the order of the specification, as a page's.
    let keys = ["schema", "source", "cache", "identity", "content", "structure", "signals"];
    let places = keys.map(|key| done.stdout.find(&format!("\n  \"{key}\": ")).unwrap());
    assert!(places.is_sorted(), "{done:?}");
}

#[test]
fn files_that_are_not_html_are_refused() {
    let folder = Folder::new();
    let utf_16: Vec<u8> = "\u{feff}<p>Seven</p>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (content, reason) in [
        (&b"%PDF-1.7\n<p>"[..], "a PDF file"),
        (b"\x1f\x8b\x08\0", "compressed by gzip; decompress it first"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a binary file"),
    ] {
        folder.write("page.html", content);
        folder.run(&["aiwebindex", "document", "page.html"]).ends(2).says(reason).prints_only("");
        folder.run_with(&["aiwebindex", "document", "-"], content).ends(2).says("<stdin>: error: this is ");
    }
    for content in [&*utf_16, b"<p>Se\0ven</p>"] {
        folder.write("page.html", content);
        folder.run(&["aiwebindex", "document", "page.html"]).ends(0).prints_only("Seven\n");
    }
    folder.run(&["aiwebindex", "document", ""]).ends(2).says("a value is required");
}

#[test]
fn a_page_can_come_from_a_pipe_and_stdout_can_fail() {
    let folder = Folder::new();
    folder.run_with(&["aiwebindex", "document", "/dev/stdin"], "<p>Seven</p>").prints_only("Seven\n");
    let mut command = folder.command(&["aiwebindex", "document", "crawlpike.json"]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.ends_with("crawlpike: error: cannot write to stdout: No space left on device (os error 28)\n"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2));
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
