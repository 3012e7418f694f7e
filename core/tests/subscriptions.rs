//! The questions of a fetcher to the core: the feeds that have a URL, and the use of an answer.

use std::collections::BTreeMap;

use crawlpike_core::{Files, FoundFile, Subscriptions, Verdict};

/// When the answers come.
const NOW: i64 = 1_767_225_600;

const DOCUMENT: &str = r#"{ "catalog": "none",
    "feeds": [
        { "name": "a", "format": "cidr", "source": "a.txt", "url": "https://a.example/", "max_age": "7d" },
        { "name": "own", "format": "cidr", "source": "own.txt" },
        { "name": "b", "format": "cidr", "source": "b.txt", "url": "https://b.example/", "limits": { "bytes": 5000 } },
        { "name": "inlined", "format": "cidr", "source": "c.txt", "url": "https://c.example/" }
    ],
    "agents": [ { "token": "A", "feeds": ["a"] }, { "token": "B", "feeds": ["b", "own", "inlined"] } ],
    "files": { "c.txt": { "text": "203.0.113.0/24\n" } } }"#;

/// Files in memory.
#[derive(Default)]
struct Folder(BTreeMap<&'static str, String>);

impl Files for Folder {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        let found = self.0.get(path).map(|text| text.clone().into_bytes());
        Ok(found.map(|bytes| FoundFile { bytes, modified: Some(NOW - 1) }))
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        self.read(&format!("{path}.last-good")).ok().flatten()
    }
}

fn list(second: u8, count: u8) -> String {
    (0..count).map(|third| format!("20.{second}.{third}.0/24\n")).collect()
}

#[test]
fn feeds_with_a_url_are_fetched_unless_they_are_in_the_document() {
    let subscriptions = Subscriptions::read("c.json", DOCUMENT.as_bytes(), &Folder::default()).ok().unwrap();
    let feeds: Vec<_> = subscriptions.feeds().collect();
    assert_eq!(feeds.iter().map(|feed| feed.name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(
        (feeds[0].url, feeds[0].source, feeds[0].max_age),
        ("https://a.example/", "a.txt", Some(604_800))
    );
    assert_eq!(feeds[1].bytes, 5000);
    assert_eq!(subscriptions.names().count(), 4);
    let errors = Subscriptions::read("c.json", br#"{ "feeds": [ {} ], "modes": 5 }"#, &Folder::default())
        .err()
        .unwrap();
    assert!(errors.len() >= 2, "{errors:?}");
}

#[test]
fn a_file_into_which_something_is_fetched_has_one_url_and_one_use() {
    let said = |more: &str| {
        let document = r#"{ "catalog": "none",
            "feeds": [ { "name": "a", "format": "cidr", "source": "a.txt", "url": "https://a.example/" } MORE }"#;
        let document = document.replace("MORE", more);
        let folder = Folder(["a.txt", "k.json", "r.txt"].map(|name| (name, String::new())).into());
        let read = Subscriptions::read("c.json", document.as_bytes(), &folder);
        let errors: Vec<String> = read.err().unwrap_or_default().iter().map(ToString::to_string).collect();
        // `lint` says the same; a file that is not what it should be has errors of its own.
        let lint = crawlpike_core::lint::config("c.json", document.as_bytes(), &folder);
        let is_said = |error: &String| lint.iter().any(|one| one.to_string() == *error);
        assert!(errors.iter().all(is_said), "{lint:?}");
        errors.join("\n")
    };
    let b = |url: &str| said(&format!(r#", {{ "name": "b", "format": "cidr", "source": "a.txt"{url} }} ]"#));
    assert_eq!(
        b(r#", "url": "https://b.example/""#),
        "c.json:2:151: error: another feed fetches a.txt from another URL"
    );
    assert_eq!([b(r#", "url": "https://a.example/""#), b("")], ["", ""]);

    let site = |files: &str| said(&format!(r#"], "sites": [ {{ {files} }} ]"#));
    assert_eq!(
        site(r#""robots_txt": "a.txt""#),
        "c.json:2:136: error: a.txt is a robots.txt, and a feed is fetched into it; use another file"
    );
    assert_eq!(
        site(
            r#""robots_txt": "r.txt", "robots_txt_url": "https://a.example/r", "automation_preferences": "r.txt""#
        ),
        "c.json:2:212: error: r.txt is an automation-preferences.txt, and a robots.txt is fetched into it; use another file"
    );
    assert_eq!(site(r#""robots_txt": "r.txt", "automation_preferences": "r.txt""#), "", "nothing is fetched");
    let keys = r#"{ "directory": "https://k.example", "source": "k.json" }"#;
    let agents = format!(
        r#", {{ "name": "b", "format": "cidr", "source": "k.json" }} ], "agents": [ {{ "token": "K", "keys": [ {keys} ] }} ]"#
    );
    assert!(
        said(&agents).contains("k.json is a feed, and a directory of keys is fetched into it"),
        "{}",
        said(&agents)
    );
}

#[test]
fn an_answer_is_compared_with_what_is_good_so_far() {
    // JAFAR-24
    let folder =
        Folder([("a.txt", "<html>".into()), ("a.txt.last-good", list(1, 40)), ("b.txt", list(2, 40))].into());
    let subscriptions = Subscriptions::read("c.json", DOCUMENT.as_bytes(), &folder).ok().unwrap();
    subscriptions.judging(&folder, |judge| {
        let mut judged =
            |name: &str, answer: String| match judge.judge(name, answer.into_bytes(), NOW).unwrap() {
                Verdict::Good { prefixes, change, .. } => {
                    Ok((prefixes, change.map(|change| (change.added, change.removed))))
                }
                Verdict::Held(why) | Verdict::Unusable(why) => Err(why),
            };
        assert_eq!(judged("a", list(1, 40)), Ok((40, None)));
        assert_eq!(judged("a", list(1, 45)), Ok((45, Some((5, 0)))));
        let why = "it shrank from 45 to 3 prefixes, by more than 50%";
        assert_eq!(judged("a", list(1, 3)), Err(why.into()));
        // Answers that were held or refused are not what later answers are compared with.
        assert_eq!(judged("a", "<html>".into()).unwrap_err().split(':').next(), Some("https"));
        assert_eq!(judged("a", String::new()), Err("it has no prefixes [JAFAR-24]".into()));
        assert_eq!(judged("a", list(1, 44)), Ok((44, Some((0, 1)))));
        // The other feed is known by its new version.
        assert_eq!(judged("b", list(3, 45)), Err("40 of its 40 prefixes are gone, more than 70%".into()));
        assert_eq!(
            judged("b", list(1, 44)),
            Err("it has the prefixes of `a`; check whether the files are swapped".into())
        );
        assert!(judged("b", list(2, 39)).is_ok());
        assert!(judge.judge("none", Vec::new(), NOW).is_none());
    });
}
