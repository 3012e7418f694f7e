//! No person is taken for automation.

use alloc::format;
use alloc::vec::Vec;

use super::{PEOPLE, catalog, is_automation, lines, speaker};
use crate::user_agent::Speaker;

const WEBKIT: &str = "AppleWebKit/537.36 (KHTML, like Gecko)";

#[test]
fn no_person_is_taken_for_automation() {
    let (_, claims) = catalog();
    let people: Vec<&str> = lines(PEOPLE).collect();
    assert!(people.len() >= 150);
    let is_person = |line: &&&str| claims.speaker(Some(line.as_bytes())) == Speaker::Browser;
    let wrong: Vec<&&str> = people.iter().filter(|line| !is_person(line)).collect();
    assert_eq!(wrong, [&""; 0]);
}

#[test]
fn applications_have_names_of_all_kinds() {
    for name in [
        "CamScanner/6.27.0",
        "ProxyFox/11",
        "Ask.com Mobile Browser",
        "HisThumbnail/1",
        "QRScanner/3.1",
        "NewsFeed/2",
        "BabyMonitor/2.1",
        "LinkPreview/1",
        "Bot-Fighter/3",
        "Botany/1.0",
        "SpiderSolitaire/2.0",
        "example.org",
        "[air.com.example.app/1.0]",
        "(Ecosia android@88.0.4324.181)",
    ] {
        for platform in [
            "Linux; Android 9; SM-A530F Build/PPR1.180610.011; wv",
            "iPhone; CPU iPhone OS 17_5 like Mac OS X",
            "Windows NT 10.0; Win64; x64",
        ] {
            let text =
                format!("Mozilla/5.0 ({platform}) {WEBKIT} Chrome/120.0.0.0 Mobile Safari/537.36 {name}");
            assert_eq!(speaker(&text), Speaker::Browser, "{text}");
        }
    }
}

#[test]
fn desktop_browsers_may_end_in_a_bare_name() {
    for name in ["Sparrow", "iTop", "MRCHROME", "Arc", "Comet", "NVDA", "Xfce", "UOS"] {
        for platform in
            ["Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64"]
        {
            let chrome = format!("Mozilla/5.0 ({platform}) {WEBKIT} Chrome/120.0.0.0 Safari/537.36 {name}");
            let firefox = format!("Mozilla/5.0 ({platform}; rv:128.0) Gecko/20100101 Firefox/128.0 {name}");
            assert_eq!([speaker(&chrome), speaker(&firefox)], [Speaker::Browser; 2], "{name}");
        }
    }
}

#[test]
fn browsers_of_television_sets_and_terminals_are_peoples() {
    for text in [
        "HbbTV/1.1.1 (;;;;) Mozilla/5.0 (compatible; ANTGalio/3.0.2.1.22.43.08; Linux2.6.18-7.1/7405d0-smp)",
        "Roku/DVP-9.10 (509.10E04111A)",
        "Roku4640X/DVP-7.70 (297.70E04154A)",
        "RokuOS/9.4.0.4200, Ignition X/11.8.2021022414, Roku",
        "Mozilla/5.0 (QSP; Roku; AP; 6.2.80.2752)",
        "Offpunk browser v1.8",
        "Offpunk/2.2",
        "Lagrange/1.17.6",
        "Emacs-EWW/1.0",
        "browsh/1.8.0",
    ] {
        assert_eq!(speaker(text), Speaker::Browser, "{text}");
    }
}

#[test]
fn a_name_may_come_before_a_browsers() {
    for text in [
        "PB0.6b Mozilla/5.0 (Windows NT 6.1; WOW64; rv:23.0) Gecko/20100101 Firefox/23.0",
        "BrightSign/8.2 (XT1144) Mozilla/5.0 (X11; Linux aarch64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/69.0 Safari/537.36",
        "TV Bro/1.0 Mozilla/5.0 (Linux; Android 9; MiTV) AppleWebKit/537.36 Chrome/90.0",
        "mozilla/5.0 (linux; android 9; armor) applewebkit/537.36 mobile safari/537.36",
    ] {
        assert_eq!(speaker(text), Speaker::Browser, "{text}");
    }
}

#[test]
fn devices_have_names_of_all_kinds() {
    let android = |device: &str, end: &str| {
        is_automation(&format!(
            "Mozilla/5.0 (Linux; Android 9; {device}) {WEBKIT} Chrome/96.0 Safari/537.36{end}"
        ))
    };
    assert!(!android("Super Bot", ""));
    assert!(!android("Cypress", ""));
    assert!(!android("X (2)", ""));
    assert!(android("X (2)", " (Super Bot)"));
    assert!(is_automation("Mozilla/5.0 (SuperBot; Android 9) Gecko/20100101 Firefox/128.0"));
    assert!(!is_automation("UCWEB/2.0 (MIDP-2.0; U; Adr 5.1; en-US; CUBOT X18) U2/1.0.0 UCBrowser/10.7.0"));
}
