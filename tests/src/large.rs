//! Large feeds, and the memory that a program takes for them.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// The most memory that a run of a program took, in KiB.
pub fn peak(mut command: Command) -> u64 {
    let mut child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most =
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(most).max(most);
        if let Some(ended) = child.try_wait().unwrap() {
            assert_eq!(ended.code(), Some(0));
            return most;
        }
        sleep(Duration::from_millis(2));
    }
}

/// The list in the syntax of a format.
pub fn written(format: &str, prefixes: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    let mut lines = prefixes.enumerate().peekable();
    if format == "jafar" {
        text += "{\n  \"creationTime\": \"2026-11-22T00:00:00.000000\",\n  \"prefixes\": [\n";
    }
    while let Some((number, prefix)) = lines.next() {
        text += &match format {
            "jafar" => {
                let family = if prefix.contains(':') { 6 } else { 4 };
                let comma = if lines.peek().is_some() { "," } else { "" };
                format!("    {{\n      \"ipv{family}Prefix\": \"{prefix}\"\n    }}{comma}\n")
            }
            "geofeed" => {
                let place = number % 4000;
                format!("{prefix},PL,PL-{:02},City {place},\n", place % 17)
            }
            _ => format!("{prefix}\n"),
        };
    }
    if format == "jafar" {
        text += "  ]\n}\n";
    }
    text
}

/// As many prefixes, half of them of IPv6, in no order.
pub fn prefixes(count: u32) -> impl Iterator<Item = String> {
    (0..count).map(|number| {
        // Odd, so that no two numbers give the same.
        let n = number.wrapping_mul(2_654_435_761) & 0xff_ffff;
        match number % 2 {
            0 => format!("10.{}.{}.{}/32", n >> 16 & 255, n >> 8 & 255, n & 255),
            _ => format!("2001:db8:{:x}:{:x}::/64", n >> 8 & 0xffff, n & 0xffff),
        }
    })
}
