//! Hostile files of robots.txt: what must not take long or fail. Bounds on steps are tested beside the matchers.

use crawlpike_core::internals::RequestPath;
use crawlpike_core::internals::policy::RobotsFile;
use crawlpike_core::internals::{Diagnostics, Load};

fn is_allowed(text: &[u8], path: &[u8]) -> bool {
    let file = RobotsFile::parse(text, &mut Diagnostics::new("robots.txt", Load));
    let robots = file.expect("it is text").compile();
    robots.decide(robots.group_for("x"), RequestPath::new(path)).allowed
}

#[test]
fn rob_5_hostile_files_are_read() {
    // ROB-5, AUTO-18
    let line = |name: &str, byte: u8, length: usize| [name.as_bytes(), &vec![byte; length], b"\n"].concat();
    let ten_megabytes = 10 << 20;
    for (text, allowed) in [
        (line("User-agent: *\nDisallow: /a\nDisallow: /", b'x', ten_megabytes), false),
        (line("User-agent: *\nDisallow: /a\n", 0, ten_megabytes), false),
        ([b"User-agent: *\nDisallow: /a\nAllow: ".to_vec(), b"/%".repeat(500_000)].concat(), false),
        ([b"User-agent: *\n".to_vec(), b"Disallow: /a\0%\n".repeat(60_000)].concat(), true),
        ([b"User-agent: *\nDisallow: /a\n".to_vec(), b"\r\n\n\r".repeat(2_500_000)].concat(), false),
        (b"User-agent: a\nDisallow: /a\n".repeat(30_000), true),
        (b"User-agent: *\nDisallow: /a\n".repeat(30_000), false),
        ([b"User-agent: *\n".to_vec(), b"Disallow: /*a*a*a*a*a*b\n".repeat(40_000)].concat(), true),
    ] {
        assert_eq!(is_allowed(&text, b"/aaa"), allowed);
    }
}
