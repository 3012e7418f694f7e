//! Robots-Tag and Content-Usage on responses that only nginx makes: files, `add_header`, error pages, subrequests. What is
//! merged how is in the table of cases.

use crawlpike_tests::http::{Request, Response};
use crawlpike_tests::lab::{HTTP, lab, person, spoofed, verified};
use crawlpike_tests::nginx::{Folder, Nginx, ask};
use crawlpike_tests::ports::free_port;

const DOCUMENT: &str = r#"{
  "mode": "enforce",
  "catalog": "none",
  "feeds": [ { "name": "lab", "format": "cidr", "source": "lab.txt" } ],
  "agents": [ { "token": "LabBot", "feeds": ["lab"] } ],
  "sites": [
    { "hosts": ["example.com"], "robots_txt": "robots.txt", "robots_tag": [ { "rules": "noindex; LabBot=nosnippet" } ],
      "usage": { "send": true, "rules": [ { "scope": "/", "preferences": "train-ai=n" } ] } },
    { "hosts": ["bare.test"], "name": "bare" }
  ]
}"#;

fn folder() -> Folder {
    let folder = lab();
    folder.write("crawlpike.json", DOCUMENT);
    folder.write("robots.txt", "User-agent: *\nDisallow:\n");
    folder.write("www/page.html", "<p>hello, world, hello, world</p>");
    folder.write("www/missing.html", "not here");
    folder
}

/// The lines of the three headers, in their order.
fn tags(response: &Response) -> Vec<(&str, &str)> {
    let is_tag =
        |name: &str| ["robots-tag", "x-robots-tag", "content-usage"].contains(&&*name.to_ascii_lowercase());
    let lines = response.headers.iter().filter(|(name, _)| is_tag(name));
    lines.map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

const OURS: [(&str, &str); 4] = [
    ("Robots-Tag", "noindex; LabBot=nosnippet"),
    ("X-Robots-Tag", "noindex"),
    ("X-Robots-Tag", "LabBot: nosnippet"),
    ("Content-Usage", "train-ai=n"),
];

const SERVER: &str = r#"
    root www;
    error_page 404 /missing.html;
    location / { }
    location = /added {
        add_header X-Robots-Tag "noarchive" always;
        add_header robots-tag "noindex, nofollow" always;
        add_header content-usage "search=n, train-ai=y" always;
        return 200 "added";
    }
    location /moved { return 301 /elsewhere; }
    location /teapot { return 418 "short and stout"; }
    location /empty { return 204; }
    location = /gif { empty_gif; }
    location = /parts { ssi on; ssi_types *; return 200 '<!--# include virtual="/page.html" -->and<!--# include virtual="/added" -->'; }
    location = /asked { auth_request /page.html; return 200 "asked"; }
    location = /off { crawlpike off; add_header X-Robots-Tag "noarchive, noarchive"; return 200 "off"; }
    location = /observed { crawlpike observe; return 200 "observed"; }
    location = /bare { crawlpike_site bare; return 200 "bare"; }
    location = /inside { crawlpike off; error_page 403 = /page.html; return 403; }
"#;

fn start() -> (Nginx, u16) {
    let port = free_port();
    let http = format!(
        "{HTTP} gzip on; gzip_types *; gzip_min_length 1; server {{ listen 127.0.0.1:{port}; {SERVER} }}"
    );
    (Nginx::start(folder(), &http), port)
}

#[test]
fn every_response_has_the_rules_of_the_site() {
    let (_nginx, port) = start();
    for (target, status) in [
        ("/page.html", 200),
        ("/nowhere", 404),
        ("/moved", 301),
        ("/teapot", 418),
        ("/empty", 204),
        ("/gif", 200),
        ("/parts", 200),
        ("/asked", 200),
        ("/robots.txt", 200),
        ("/observed", 200),
        ("/page.html/", 404),
    ] {
        for request in [person(target), verified(target)] {
            let response = ask(port, &request);
            assert_eq!((response.status, &*tags(&response)), (status, &OURS[..]), "{target}");
        }
    }
    let head = Request::new("HEAD", "/page.html", "example.com");
    assert_eq!(tags(&ask(port, &head)), OURS);
    let ranged = ask(port, &person("/page.html").header("Range", "bytes=1-2"));
    assert_eq!((ranged.status, &*tags(&ranged)), (206, &OURS[..]));
    let zipped = ask(port, &person("/page.html").header("Accept-Encoding", "gzip"));
    assert_eq!((zipped.header("content-encoding"), &*tags(&zipped)), (Some("gzip"), &OURS[..]));
    let date = ask(port, &person("/page.html")).header("last-modified").unwrap().to_owned();
    let unchanged = ask(port, &person("/page.html").header("If-Modified-Since", date));
    assert_eq!((unchanged.status, &*tags(&unchanged)), (304, &OURS[..]));
    // Our own denial, which has nothing of the page.
    let denied = ask(port, &spoofed("/page.html"));
    assert_eq!((denied.denial_reason().as_deref(), &*tags(&denied)), (Some("spoofed-agent"), &OURS[..3]));
    let parts = ask(port, &person("/parts"));
    assert_eq!(parts.text(), "<p>hello, world, hello, world</p>andadded", "subrequests are left alone");
}

#[test]
fn what_add_header_adds_counts_as_the_response_s_own() {
    let (_nginx, port) = start();
    let expected = [
        ("Robots-Tag", "noindex, nofollow, noarchive; LabBot=nosnippet"),
        ("X-Robots-Tag", "noindex, nofollow, noarchive"),
        ("X-Robots-Tag", "LabBot: nosnippet"),
        ("Content-Usage", "search=n, train-ai=n"),
    ];
    assert_eq!(tags(&ask(port, &person("/added"))), expected);
    assert_eq!(tags(&ask(port, &person("/off"))), [("X-Robots-Tag", "noarchive, noarchive")]);
    assert_eq!(tags(&ask(port, &person("/bare"))), []);
    // The page of a location with another mode is part of that location.
    assert_eq!(tags(&ask(port, &person("/inside"))), OURS);
    assert_eq!(tags(&ask(port, &Request::new("GET", "/page.html", "other.test"))), []);
    assert_eq!(
        tags(&ask(port, &Request::new("GET", "/page.html", "bad host"))),
        [],
        "refused while it was read"
    );
}
