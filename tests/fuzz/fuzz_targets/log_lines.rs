//! The lines of access logs, in formats that are detected, or in the one of nginx or Envoy that the first line describes.
//! The fields of a line are parts of it, and reading them again gives the same.
#![no_main]

use crawlpike_report::{LineReader, Record};
use libfuzzer_sys::fuzz_target;

fn check(record: &Record<'_>, line: &[u8]) {
    let texts = [Some(&record.method), Some(&record.target), record.authority.as_ref(), record.user_agent.as_ref()];
    for text in texts.into_iter().flatten().chain(&record.purpose) {
        // A byte that is not UTF-8 becomes three; `/` is added to the target of `http://host?query`.
        assert!(text.len() <= 3 * line.len() + 1, "{}", line.escape_ascii());
    }
    assert!(!record.method.is_empty());
}

fuzz_target!(|bytes: &[u8]| {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let first = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let format = |prefix: &str| first.strip_prefix(prefix).map(String::from).into_iter().collect::<Vec<_>>();
    let (nginx, envoy) = (format("nginx "), format("envoy "));
    let Ok(reader) = LineReader::of(&nginx, &envoy, "automation-purpose") else { return };
    for line in lines {
        if let Ok(record) = reader.read(line) {
            check(&record, line);
            assert_eq!(reader.read(line).as_ref(), Ok(&record));
        }
    }
});
