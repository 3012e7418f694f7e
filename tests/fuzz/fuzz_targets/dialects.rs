//! Questions to `crawlpike serve`, whatever their headers: a part that is found is what one header says.
#![no_main]
// The server uses more of these files.
#![allow(dead_code)]

use libfuzzer_sys::fuzz_target;

#[path = "../../../serve/src/dialect.rs"]
mod dialect;
#[path = "../../../serve/src/trust.rs"]
mod trust;
#[path = "../../../serve/src/unclear.rs"]
mod unclear;

use dialect::{DIALECTS, Question};
use trust::Trust;

// The first line is the target, each other one a header.
fuzz_target!(|data: &[u8]| {
    let mut lines = data.split(|byte| *byte == b'\n');
    let target = lines.next().unwrap_or_default();
    let header = |line: &'_ [u8]| -> Option<(usize, String)> {
        let end = line.iter().position(|byte| *byte == b':')?;
        Some((end + 1, String::from_utf8_lossy(&line[..end]).to_ascii_lowercase()))
    };
    let named: Vec<(String, &[u8])> =
        lines.filter_map(|line| header(line).map(|(start, name)| (name, &line[start..]))).collect();
    let headers: Vec<(&str, &[u8])> = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let question = Question { method: b"GET", target, headers: &headers };
    let trust = Trust::new(Vec::new());
    for configured in DIALECTS.map(Some).into_iter().chain([None]) {
        let (dialect, parts) = match question.parts(configured, &trust) {
            Ok(found) => found,
            Err(why) => {
                assert!(!why.to_string().is_empty());
                continue;
            }
        };
        assert!(configured.is_none_or(|configured| configured.name == dialect.name));
        let is_said = |part: &[u8]| {
            let is_in = |text: &[u8]| text.windows(part.len().max(1)).any(|window| window == part);
            part.is_empty() || is_in(target) || headers.iter().any(|(_, value)| is_in(value))
        };
        assert!(is_said(parts.authority) && is_said(parts.target));
        assert!(parts.method == b"GET" || is_said(parts.method));
    }
});
