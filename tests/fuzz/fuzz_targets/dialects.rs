//! Questions to `crawlpike serve`, whatever their heads: a part that is found is what one header says.
#![no_main]
// The server uses more of these files.
#![allow(dead_code)]

use libfuzzer_sys::fuzz_target;

#[path = "../../../serve/src/dialect.rs"]
mod dialect;
#[path = "../../../serve/src/http_1/head.rs"]
mod head;
#[path = "../../../serve/src/trust.rs"]
mod trust;
#[path = "../../../serve/src/unclear.rs"]
mod unclear;

use dialect::{DIALECTS, Question};
use head::Head;
use trust::Trust;

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.to_vec();
    let Ok(Head { method, target, headers, .. }) = Head::read(&mut bytes) else { return };
    let is_name = |name: &str| !name.is_empty() && !name.contains([' ', ':', '\r', '\n']);
    assert!(headers.iter().all(|(name, value)| is_name(name) && !value.contains(&b'\n')));
    let question = Question { method, target, headers: &headers };
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
        assert!(parts.method == method || is_said(parts.method));
    }
});
