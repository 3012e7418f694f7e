use std::fs;
use std::net::IpAddr;

use super::*;

const DOCUMENT: &str = r#"{ "catalog": "none",
    "feeds": [ { "name": "lab", "format": "cidr", "source": "lab.txt" } ],
    "sites": [ { "robots_txt": "robots.txt" } ] }"#;

struct Lab(tempfile::TempDir);

impl Lab {
    fn new() -> Self {
        let lab = Self(tempfile::tempdir().unwrap());
        lab.write("crawlpike.json", DOCUMENT);
        lab.write("lab.txt", "192.0.2.0/24\n");
        lab.write("robots.txt", "User-agent: *\n");
        lab
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Puts a folder in the place of the last good version, which cannot be read.
    fn hide_last_good(&self) {
        fs::remove_file(self.path("lab.txt.last-good")).unwrap();
        fs::create_dir(self.path("lab.txt.last-good")).unwrap();
    }

    /// Puts what cannot be read, for an error of input and output, in the place of a file. As long as the result is open, its
    /// state stays the same.
    fn break_file(&self, name: &str) -> fs::File {
        let unreadable = Path::new("/proc/self/mem");
        fs::remove_file(self.path(name)).unwrap();
        std::os::unix::fs::symlink(unreadable, self.path(name)).unwrap();
        fs::File::open(unreadable).unwrap()
    }

    /// An origin whose first version is kept in a file.
    fn loaded(&self) -> Origin {
        let mut origin = Origin::read(&self.path("crawlpike.json")).unwrap();
        let compiled = origin.compile();
        assert!(compiled.ruleset.is_some(), "{:?}", compiled.diagnostics);
        origin.keep(compiled.good_feeds).unwrap();
        origin
    }
}

fn is_unchanged(origin: &mut Origin) -> bool {
    matches!(origin.look(), Look::Unchanged)
}

/// The ruleset that is compiled after a change, with the files that have changed.
fn renewed(origin: &mut Origin) -> (Compiled, Vec<PathBuf>) {
    assert!(matches!(origin.look(), Look::Changing));
    match origin.look() {
        Look::Changed { files, made } => (made, files),
        other => panic!("{other:?}"),
    }
}

fn covers(compiled: &Compiled, address: &str) -> bool {
    let address: IpAddr = address.parse().unwrap();
    compiled.ruleset.as_ref().unwrap().lookup(address).next().is_some()
}

#[test]
fn each_kind_of_change_is_seen_and_none_where_there_was_none() {
    for name in ["lab.txt", "robots.txt", "lab.txt.last-good"] {
        let lab = Lab::new();
        let mut origin = lab.loaded();
        assert!(is_unchanged(&mut origin), "what was just kept is not a change");
        let content = fs::read_to_string(lab.path(name)).unwrap();
        lab.write("new", &content);
        fs::rename(lab.path("new"), lab.path(name)).unwrap();
        assert_eq!(renewed(&mut origin).1, [lab.path(name)], "replaced by its like");
        assert!(is_unchanged(&mut origin));
        lab.write(name, "# longer\n");
        assert_eq!(renewed(&mut origin).1, [lab.path(name)], "written to");
        fs::remove_file(lab.path(name)).unwrap();
        renewed(&mut origin);
        assert!(is_unchanged(&mut origin), "gone");
        lab.write(name, &content);
        assert_eq!(renewed(&mut origin).1, [lab.path(name)], "there again");
        // The document takes a reload.
        lab.write("crawlpike.json", "{}");
        let compiled = origin.compile();
        assert!(compiled.ruleset.is_some_and(|ruleset| ruleset.feeds(0).count() == 1));
        assert!(is_unchanged(&mut origin));
    }
}

#[test]
fn a_remembered_version_counts_until_another_is_kept_beside_the_source() {
    let lab = Lab::new();
    let mut origin = lab.loaded();
    lab.write("lab.txt", "192.0.2.0/24\n203.0.113.0/24\n");
    let compiled = origin.compile();
    origin.remember(compiled.good_feeds);
    assert_eq!(fs::read_to_string(lab.path("lab.txt.last-good")).unwrap(), "192.0.2.0/24\n");

    lab.write("lab.txt", "");
    let compiled = origin.compile();
    assert!(covers(&compiled, "203.0.113.9"), "the remembered one: {:?}", compiled.diagnostics);
    assert!(compiled.good_feeds.is_empty());
    // Again, since it is still the last good one.
    lab.write("lab.txt", "<html>\n");
    assert!(covers(&origin.compile(), "203.0.113.9"));

    // As `crawlpike compile --accept lab` does.
    lab.write("lab.txt", "198.51.100.0/24\n");
    assert!(!covers(&origin.compile(), "198.51.100.1"), "held: all has changed");
    lab.write("lab.txt.last-good", "198.51.100.0/24\n");
    let (compiled, files) = renewed(&mut origin);
    assert_eq!(files, [lab.path("lab.txt.last-good")]);
    assert!(covers(&compiled, "198.51.100.1"));
    assert!(origin.remembered.is_empty());
}

#[test]
fn each_kind_of_file_that_could_not_be_read_is_waited_for() {
    for name in ["crawlpike.json", "robots.txt", "lab.txt", "lab.txt.last-good"] {
        let lab = Lab::new();
        let path = lab.path("crawlpike.json");
        // Not everybody may read that file.
        let mut origin = Origin { files: FilesBeside::new(&path), ..Origin::follow(&path) };
        let compiled = origin.compile();
        assert!(compiled.ruleset.is_some(), "{:?}", compiled.diagnostics);
        origin.keep(compiled.good_feeds).unwrap();
        let content = fs::read(lab.path(name)).unwrap();
        let _open = lab.break_file(name);
        let (compiled, _) = renewed(&mut origin);
        // A feed has its last good version.
        assert_eq!(compiled.ruleset.is_some(), name == "lab.txt", "{name}");
        let said = compiled.diagnostics.iter().map(ToString::to_string).collect::<String>();
        assert!(said.contains("Input/output error"), "{name}: {said}");
        for look in 0..2 {
            assert!(matches!(origin.look(), Look::Waiting), "{name}: {look}");
        }
        fs::remove_file(lab.path(name)).unwrap();
        fs::write(lab.path(name), content).unwrap();
        let (compiled, files) = renewed(&mut origin);
        assert!(compiled.ruleset.is_some() && files.contains(&lab.path(name)), "{name}: {files:?}");
        assert!(is_unchanged(&mut origin), "{name}");
    }
}

#[test]
fn a_feed_that_was_in_force_is_not_lost() {
    let lab = Lab::new();
    let mut origin = lab.loaded();
    fs::remove_file(lab.path("lab.txt")).unwrap();
    fs::remove_file(lab.path("lab.txt.last-good")).unwrap();
    let (compiled, _) = renewed(&mut origin);
    assert!(compiled.ruleset.is_none());
    let said = compiled.diagnostics.last().unwrap().to_string();
    assert!(said.contains("the feed `lab` was in force, and no version of it is left"), "{said}");
    lab.write("lab.txt", "192.0.2.0/24\n");
    assert!(renewed(&mut origin).0.ruleset.is_some());
}

#[test]
fn an_empty_version_that_the_guard_lets_in_is_in_force() {
    let lab = Lab::new();
    lab.write("crawlpike.json", &DOCUMENT.replace(r#""cidr","#, r#""cidr", "guard": "off","#));
    let mut origin = lab.loaded();
    lab.write("lab.txt", "# nobody any more\n");
    assert!(!covers(&renewed(&mut origin).0, "192.0.2.1"));
    lab.write("robots.txt", "User-agent: *\nDisallow: /\n");
    assert!(renewed(&mut origin).0.ruleset.is_some());
}

#[test]
fn an_empty_version_is_accepted_also_where_the_last_good_one_is_in_memory() {
    for is_kept in [true, false] {
        let lab = Lab::new();
        let mut origin = lab.loaded();
        if !is_kept {
            fs::remove_file(lab.path("lab.txt.last-good")).unwrap();
            origin = Origin::read(&lab.path("crawlpike.json")).unwrap();
            let compiled = origin.compile();
            origin.remember(compiled.good_feeds);
        }
        lab.write("lab.txt", "# nobody any more\n");
        assert!(covers(&renewed(&mut origin).0, "192.0.2.1"), "held: it became empty");
        // As `crawlpike compile --accept lab` does.
        let files = FilesBeside::new(&lab.path("crawlpike.json")).accepting(&["lab".to_owned()]);
        let accepted = Ruleset::compile("crawlpike.json", DOCUMENT.as_bytes(), &files);
        files.keep(&accepted.good_feeds).unwrap();
        let (compiled, files) = renewed(&mut origin);
        assert_eq!(files, [lab.path("lab.txt.last-good")]);
        assert!(!covers(&compiled, "192.0.2.1"), "{:?}", compiled.diagnostics);
        origin.remember(compiled.good_feeds);
        lab.write("robots.txt", "User-agent: *\nDisallow: /\n");
        assert!(renewed(&mut origin).0.ruleset.is_some());
    }
}

#[test]
fn without_the_last_good_version_no_new_one_is_let_in() {
    let lab = Lab::new();
    let mut origin = lab.loaded();
    lab.hide_last_good();
    let (compiled, _) = renewed(&mut origin);
    assert!(compiled.ruleset.is_none());
    let said = compiled.diagnostics.last().unwrap().to_string();
    let expected =
        "lab.txt.last-good: not a regular file; until it can be read, no new version of the feed is accepted";
    assert!(said.ends_with(expected), "{said}");
}

#[test]
fn at_the_start_a_last_good_version_that_cannot_be_read_stays_where_it_is() {
    let lab = Lab::new();
    let mut origin = lab.loaded();
    lab.hide_last_good();
    lab.write("lab.txt", "198.51.100.0/24\n");
    let compiled = origin.compile();
    assert!(covers(&compiled, "198.51.100.1"));
    let said = compiled.diagnostics.last().unwrap().to_string();
    let expected =
        "lab.txt.last-good: not a regular file; the new version of the feed is not compared with it";
    assert!(said.contains(": warning: ") && said.ends_with(expected), "{said}");
    origin.keep(compiled.good_feeds).expect("it is not written");
    assert!(lab.path("lab.txt.last-good").is_dir());
    lab.write("lab.txt", "192.0.2.0/24\n");
    let (compiled, _) = renewed(&mut origin);
    assert!(covers(&compiled, "198.51.100.1"), "held: the version in memory judges it");
}

#[test]
fn a_last_good_version_judges_as_soon_as_it_can_be_read() {
    let lab = Lab::new();
    let mut origin = lab.loaded();
    lab.write("lab.txt", "198.51.100.0/24\n");
    assert!(!covers(&origin.compile(), "198.51.100.1"), "held: all has changed");
    let (last_good, kept) = (lab.path("lab.txt.last-good"), lab.path("kept"));
    fs::copy(&last_good, &kept).unwrap();
    let _open = lab.break_file("lab.txt.last-good");
    let compiled = origin.compile();
    assert!(covers(&compiled, "198.51.100.1"));
    origin.remember(compiled.good_feeds);
    for look in 0..3 {
        assert!(matches!(origin.look(), Look::Waiting), "{look}");
    }
    // As if that file could be read again.
    fs::rename(&kept, &last_good).unwrap();
    let snapshot = Snapshot::default();
    snapshot.record(&last_good);
    origin.remembered[0].instead_of = snapshot.state(&last_good);
    let compiled = origin.compile();
    assert!(!covers(&compiled, "198.51.100.1"), "{:?}", compiled.diagnostics);
}

#[test]
fn what_cannot_be_compiled_is_tried_again_when_it_has_changed() {
    let lab = Lab::new();
    let mut origin = lab.loaded();
    fs::remove_file(lab.path("robots.txt")).unwrap();
    assert!(renewed(&mut origin).0.ruleset.is_none());
    assert!(is_unchanged(&mut origin));
    lab.write("robots.txt", "User-agent: *\n");
    let (compiled, files) = renewed(&mut origin);
    assert_eq!((compiled.ruleset.is_some(), files), (true, vec![lab.path("robots.txt")]));
}

#[test]
fn a_compiled_ruleset_is_loaded_again_as_long_as_its_document_is_the_same() {
    let lab = Lab::new();
    let store = |document: &str| {
        lab.write("crawlpike.json", document);
        let words = lab.loaded().compile().store().unwrap();
        fs::write(lab.path("crawlpike.bin"), zerocopy::IntoBytes::as_bytes(&words[..])).unwrap();
    };
    store(DOCUMENT);
    let mut origin = Origin::read(&lab.path("crawlpike.bin")).unwrap();
    assert!(origin.compile().ruleset.is_some());
    lab.write("lab.txt", "192.0.2.0/24\n203.0.113.0/24\n");
    assert!(is_unchanged(&mut origin), "the feeds are in it");
    store(DOCUMENT);
    let (compiled, files) = renewed(&mut origin);
    assert_eq!(files, [lab.path("crawlpike.bin")]);
    assert!(covers(&compiled, "203.0.113.9"));
    store(&DOCUMENT.replace("robots.txt", "lab.txt"));
    let (refused, _) = renewed(&mut origin);
    let [why] = &refused.diagnostics[..] else { panic!("{:?}", refused.diagnostics) };
    assert!(
        why.to_string().ends_with("crawlpike.bin: error: the document in it has changed; reload to use it")
    );
    store(DOCUMENT);
    assert!(renewed(&mut origin).0.ruleset.is_some());
}

#[test]
fn many_small_changes_are_one_large_change_for_a_host_that_writes_nothing() {
    let list = |count: u8| -> String { (0..count).map(|third| format!("20.0.{third}.0/24\n")).collect() };
    let lab = Lab::new();
    lab.write("lab.txt", &list(240));
    let mut origin = lab.loaded();
    let mut held = 0;
    for count in [120, 60, 30, 15, 8, 4, 2, 1] {
        lab.write("lab.txt", &list(count));
        let compiled = origin.compile();
        held += usize::from(compiled.good_feeds.is_empty());
        origin.remember(compiled.good_feeds);
    }
    assert_eq!(held, 7);
    assert!(covers(&origin.compile(), "20.0.119.1") && !lab.path("lab.txt.earlier-good").exists());
    // After some days it is let shrink further.
    let remembered = origin.remembered.first_mut().unwrap();
    remembered.earlier.as_mut().unwrap().since -= 3 * 24 * 60 * 60;
    lab.write("lab.txt", &list(100));
    for count in [100, 60, 50] {
        lab.write("lab.txt", &list(count));
        let compiled = origin.compile();
        assert_eq!(compiled.good_feeds.is_empty(), count < 60, "{count}: {:?}", compiled.diagnostics);
        origin.remember(compiled.good_feeds);
    }
}
