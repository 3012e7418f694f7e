//! Automation is recognised, at a bounded cost.

use alloc::format;
use alloc::vec::Vec;

use super::{AUTOMATION, catalog, is_automation, lines};
use crate::path::pattern::steps;
use crate::user_agent::{Claims, Speaker};

const CHROME: &str =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

/// Returns true if Chrome is automation when this is put after its User-Agent.
fn chrome(end: &str) -> bool {
    is_automation(&format!("{CHROME}{end}"))
}

/// Returns true if this is an agent of the catalog, or automation.
fn agent_or_automation(user_agent: &str) -> bool {
    catalog().1.speaker(Some(user_agent.as_bytes())) != Speaker::Browser
}

#[test]
fn automation_is_recognised_in_995_of_1000() {
    let (_, claims) = catalog();
    let automation: Vec<&str> = lines(AUTOMATION).collect();
    assert!(automation.len() >= 150);
    let is_missed = |line: &&&str| claims.speaker(Some(line.as_bytes())) == Speaker::Browser;
    let missed: Vec<&&str> = automation.iter().filter(is_missed).collect();
    assert!(missed.len() * 1000 <= automation.len() * 5, "{missed:#?}");
}

#[test]
fn no_user_agent_is_automation() {
    assert_eq!(Claims::new(["X"]).unwrap().speaker(None), Speaker::Automation);
    assert!(is_automation(""));
    assert!(is_automation(" \t "));
}

#[test]
fn names_of_bots_crawlers_and_spiders_count_as_a_whole() {
    assert!(!chrome(""));
    for name in
        ["SomeBot", "SOMEBOT/1.0", "some_bot", "(my-crawler 2.0)", "Web Spider", "x.bot", "WebCrawler;"]
    {
        assert!(chrome(&format!(" {name}")), "{name}");
    }
    for name in ["SomeBot2", "some_bot_2", "Bot-Fighter", "Botany", "Crawlers", "spiderman", "SomeBot\u{17c}"]
    {
        assert!(!chrome(&format!(" {name}")), "{name}");
    }
}

#[test]
fn browsers_that_nobody_looks_at_name_themselves() {
    for name in ["HeadlessChrome/140.0", "HeadlessEdg/140.0", "PhantomJS/2.1.1", "jsdom/22.1", "Cypress/13.6"]
    {
        assert!(is_automation(&format!(
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) {name} Safari/537.36"
        )));
    }
    assert!(chrome(" Chrome-Lighthouse"));
    assert!(chrome("; Selenium"));
    assert!(!chrome(" Lighthouses/1.0"));
}

#[test]
fn a_browser_does_not_say_that_it_is_compatible() {
    assert!(!is_automation("Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0)"));
    assert!(!is_automation("Mozilla/1.10 [en] (Compatible; RISC OS 3.70; Oregano 1.10)"));
    assert!(is_automation("Mozilla/5.0 (compatible; Example/1.0)"));
    assert!(is_automation("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Example/1.0)"));
    assert!(chrome(" (compatible; Example/1.0)"));
    assert!(is_automation(
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko; Example) Chrome/140.0 Safari/537.36"
    ));
}

#[test]
fn services_that_measure_and_watch_sites_name_themselves() {
    for name in [
        "(Dotcom-Monitor)",
        "DMBrowser/2.1 (UV)",
        "(ThousandEyes Agent)",
        "ThousandEyes-Dragonfly-x1",
        "Silktide",
        "Site24x7",
        "StatusCake",
        "Catchpoint",
        "Uptrends",
        "NodePing",
        "DareBoost",
        "TestLocally/1.0",
        "GTmetrix",
        "CloudWatchSynthetics/arn:aws:synthetics:eu-west-1:1:canary:x",
        "PTST/SpeedCurve/240101.1",
        "GotSiteMonitor.com",
        "www.uptimedoctor.com (username x)",
        "NewRelicSynthetics/1.0",
        "DatadogSynthetics",
        "(compatible; MontasticMonitor)",
    ] {
        assert!(agent_or_automation(&format!("{CHROME} {name}")), "{name}");
    }
    for probe in [
        "Mozilla/5.0 (X11; Linux x86_64; Rigor) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/86.0.4240.75 Safari/537.36",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) YLT Chrome/85.0 Safari/537.36",
        "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
        "Mozilla/5.0 (compatible;Cloudflare-Healthchecks/1.0;+https://www.cloudflare.com/; healthcheck-id: a)",
        "Mozilla/5.0 (compatible; HetrixTools Uptime Monitor Bot)",
        "Mozilla/5.0 (compatible; PRTG Network Monitor (www.paessler.com); Windows)",
        "Better Uptime Bot Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/88.0",
        "Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)",
        "FreshpingBot/1.0 (+https://freshping.io/)",
        "Checkly/1.0 (https://www.checklyhq.com)",
        "updown.io daemon 2.11",
        "Datadog/Synthetics",
        "check_http/v2.3.3 (nagios-plugins 2.3.3)",
        "Zabbix",
        "Blackbox Exporter/0.25.0",
        "Prometheus/2.53.0",
        "Uptime-Kuma/1.23.16",
        "Elastic-Heartbeat/8.15.0 (linux; amd64)",
        "kube-probe/1.31",
        "ELB-HealthChecker/2.0",
        "GoogleHC/1.0",
        "GoogleStackdriverMonitoring-UptimeChecks(https://cloud.google.com/monitoring)",
        "Amazon-Route53-Health-Check-Service (ref 1; report http://amzn.to/1vsZADi)",
        "Consul Health Check",
        "Azure Traffic Manager Endpoint Monitor",
        "Edge Health Probe",
        "Envoy/HC",
        "HAProxy",
        "Apache-HttpClient/4.5.14 (Java/21)",
        "",
    ] {
        assert!(is_automation(probe), "{probe}");
    }
}

#[test]
fn opera_is_a_whole_word() {
    assert!(is_automation("Mozilla/5.0 (compatible; Operator/1.0)"));
    assert!(is_automation("Mozilla/5.0 (Operating-System-Check)"));
    for person in [
        "Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.18",
        "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; en) Opera 8.50",
        "Mozilla/5.0 (Windows NT 5.1; U; en) Opera 8.51",
        "Opera/9.80 (J2ME/MIDP; Opera Mini/7.1.32052/29.3709; U; en) Presto/2.8.119 Version/11.10",
    ] {
        assert!(!is_automation(person), "{person}");
    }
}

#[test]
fn an_operator_gives_an_address() {
    for address in [
        "(+http://x.example)",
        "(HTTPS://x.example/bot)",
        "http://x.example",
        "(someone@example.net)",
        "mailto:someone@example.net",
    ] {
        assert!(chrome(&format!(" {address}")), "{address}");
    }
    for name in ["(see example.com)", "HTTP/1.1", "https", "user@1.0", "a@b", "http://bsalsa.com/"] {
        assert!(!chrome(&format!(" {name}")), "{name}");
    }
    assert!(is_automation("Mozilla/5.0 (X11; me@x.example) Gecko/20100101 Firefox/128.0"));
}

#[test]
fn editors_are_not_browsers() {
    assert!(chrome(" Code/1.101.0 Electron/35.5.1"));
    assert!(!chrome(" Slack/4.38 Electron/30.3.0"));
    assert!(!chrome(" QR Code Reader/3.1"));
    assert!(!chrome(" Code/1.101.0"));
}

#[test]
fn an_application_that_names_its_phone_is_no_browser() {
    let webkit = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36";
    for application in [
        "wp-android/2.7.2 (Android 4.4.2; de_DE; LGE Nexus 5/hammerhead)",
        "com.ipspirates.ort v.612 (OnePlus 9, Android 12, zh_CN)",
        "ExampleReader/3.1 (iPhone; iOS 18.6; Scale/3.00)",
        "Dalvik/2.1.0 (Linux; U; Android 15; Pixel 9)",
        "ExampleShop/421 CFNetwork/1494.0.7 Darwin/23.4.0",
    ] {
        assert!(is_automation(application), "{application}");
        // It shows a page.
        assert!(!is_automation(&format!("{application} {webkit}")), "{application}");
        assert!(!is_automation(&format!("{application} Example Browser/2")), "{application}");
    }
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    assert!(is_automation("\u{fffd}\0"));
    assert_eq!(Claims::new([]).unwrap().speaker(Some(b"\xff\xfe\0")), Speaker::Automation);
    assert!(is_automation(&"(".repeat(8192)));
    assert!(is_automation(&format!("Mozilla/5.0 ({}", "(".repeat(8192))));
    assert!(!is_automation("Mozilla/5.0 (Windows NT 10.0; \u{17c}; rv:128.0) Gecko/20100101 Firefox/128.0"));
}

#[test]
fn thousands_of_words_are_looked_at_in_linear_time() {
    // Counted, not timed: the bytes that are searched for the context of a word.
    for (opening, word) in [
        ("Mozilla/5.0 (X11) AppleWebKit/537.36 ", "electron "),
        ("Mozilla/5.0 (Linux; Android ", "bot "),
        ("Mozilla/5.0 (Linux; Android ", "(bot)"),
        ("Mozilla/5.0 (Linux; Android ", "Cypress "),
        ("Mozilla/5.0 (Linux; Android 9) AppleWebKit/537.36 (", "(cubot)"),
        ("Mozilla/5.0 (Linux; Android 9) AppleWebKit/537.36 (", "http://bsalsa.com@"),
        ("Mozilla/5.0 (compatible; MSIE 8.0; ", "compatible; MSIE "),
        ("Mozilla/5.0 (compatible; MSIE 8.0; ", "Mozilla/5.0 (compatible;"),
    ] {
        let text = [opening, &word.repeat(2000)].concat();
        let (steps, is_automation) = steps::of(|| is_automation(&text));
        assert!(!is_automation, "{opening}{word}");
        assert!(steps <= 20 * text.len(), "{opening}{word}: {steps}");
    }
}
