//! The memory of `crawlpike update`, as it is built for release, for a feed of a million entries.

use std::process::{Command, Stdio};

use crawlpike_tests::artefacts;
use crawlpike_tests::large::{peak, prefixes, written};
use crawlpike_tests::nginx::Folder;
use crawlpike_tests::publisher::{Authority, Publisher, VALID, respond, trust};
use serde_json::json;

const ENTRIES: u32 = 1_000_000;

#[test]
fn a_million_entries_take_less_than_64_mib_in_every_format() {
    let authority = Authority::new();
    for format in ["cidr", "jafar", "geofeed"] {
        let folder = Folder::new();
        let publisher = Publisher::https(authority.identity(VALID), move |asked, connection| {
            // The second answer has lost a hundredth.
            let count = if asked.target == "/first" { ENTRIES } else { ENTRIES - ENTRIES / 100 };
            respond(connection, "200 OK", &[], written(format, prefixes(count)))
        });
        let update = |target: &str| {
            let document = json!({ "catalog": "none", "feeds": [{ "name": "large", "format": format,
                "source": "large.txt", "url": publisher.url(target) }] });
            folder.write("crawlpike.json", document.to_string());
            let mut command = Command::new(artefacts::cli());
            trust(&mut command, &authority.file());
            command.args(["update", "--config", "crawlpike.json"]).current_dir(folder.path());
            command.stdout(Stdio::null());
            peak(command)
        };
        // Then with a last good version, which the new one is compared with.
        let peaks = ["/first", "/second"].map(update);
        println!("KiB for {ENTRIES} prefixes as {format}: {peaks:?}");
        assert!(peaks.iter().all(|peak| *peak < 64 << 10), "{format}: {peaks:?}");
        let entries = folder.read("large.txt.last-good").matches('/').count();
        assert_eq!(entries, usize::try_from(ENTRIES - ENTRIES / 100).unwrap());
    }
}
