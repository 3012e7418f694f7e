//! Many clients, each from its own address.

use crate::world::{GOOGLEBOT, World};

/// The counts of a gate, by action.
fn counted(page: &str, action: &str) -> u64 {
    let series = page.lines().filter(|line| {
        line.starts_with("crawlpike_requests_total{") && line.contains(&format!(r#"action="{action}""#))
    });
    series.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

#[test]
fn each_of_many_addresses_gets_its_own_verdict() {
    let world = World::new();
    world.with_feeds();
    // 32 addresses of Google's are in its feed; 95 are not. With IPv6, as many again.
    for gate in &world.gates {
        let metrics = format!("http://{}:9145/metrics", gate.ipv4);
        let page = || world.client().exec(&["curl", "-s", &metrics]).stdout;
        let before = page();
        let script = format!(
            "for n in $(seq 64 95) $(seq 160 254); do \
             curl -s -o /dev/null -w \"%{{http_code}} 4\\n\" --interface 198.51.100.$n -A '{GOOGLEBOT}' http://{}:8080/; \
             curl -s -o /dev/null -w \"%{{http_code}} 6\\n\" --interface 2001:db8:c::$(printf %02x $n)01 -A '{GOOGLEBOT}' \
             'http://[{}]:8080/'; done",
            gate.ipv4, gate.ipv6
        );
        let answers = world.client().exec(&["sh", "-c", &script]).stdout;
        let count = |answer: &str| answers.lines().filter(|line| *line == answer).count();
        assert_eq!((count("200 4"), count("403 4")), (32, 95), "{}: {answers}", gate.name);
        // Of IPv6, only 2001:db8:c::6401 is in Google's /120, and it is not asked from here.
        assert_eq!((count("200 6"), count("403 6")), (0, 127), "{}: {answers}", gate.name);
        // Envoy adds up once a second.
        crawlpike_tests::process::wait_for("all requests in the metrics", || {
            let after = page();
            let more = |action| counted(&after, action) - counted(&before, action);
            (more("allow") == 32 && more("deny") == 95 + 127).then_some(())
        });
    }
}
