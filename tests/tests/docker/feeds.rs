//! A feed on its way from its publisher to the verdicts of all gates, and what must not get there.

use crate::world::{
    FIREFOX, GOOGLE_FEED, GOOGLEBOT, GPTBOT, OF_GOOGLE, OF_GOOGLE_IPV6, OF_NOBODY, OF_NOBODY_IPV6, OF_OPENAI,
    World,
};

#[test]
fn a_published_feed_decides_in_all_gates_without_a_lost_request() {
    let world = World::new();
    // The volume has feeds of other names only.
    world.all_now("identity=unverified", OF_GOOGLE, GOOGLEBOT, "/");
    world.all_now("identity=unverified", OF_NOBODY, GOOGLEBOT, "/");

    let loads: Vec<_> = world.gates.iter().map(|gate| world.load(gate, 300)).collect();
    world.with_feeds();
    loads.into_iter().for_each(crate::world::Load::lost_nothing);

    world.all("identity=verified", OF_GOOGLE_IPV6, GOOGLEBOT, "/");
    world.all("403", OF_NOBODY_IPV6, GOOGLEBOT, "/");
    world.all("identity=verified", OF_OPENAI, GPTBOT, "/");
    world.all_now(r#""reason":"robots-disallowed""#, OF_OPENAI, GPTBOT, "/private/");
    world.all_now(r#""reason":"spoofed-agent""#, OF_GOOGLE, GPTBOT, "/");
    world.all_now("200 []", OF_NOBODY, FIREFOX, "/private/");
    for gate in &world.gates {
        gate.container.wait_for_log(&["Googlebot", "198.51.100.130"]);
    }

    // The publisher takes one prefix away and adds one.
    world.publish("googlebot", &GOOGLE_FEED.replace("198.51.100.80/28", "198.51.100.128/28"));
    let updated = world.update(&[]);
    assert!(updated.status == 0 && updated.stdout.contains("googlebot: updated"), "{updated:?}");
    world.reload();
    world.all("identity=verified", OF_NOBODY, GOOGLEBOT, "/");
    world.all("403", "198.51.100.81", GOOGLEBOT, "/");
}

#[test]
fn a_poisoned_feed_changes_no_verdict() {
    let world = World::new();
    world.with_feeds();
    let poisons = [
        (
            "a prefix for everybody",
            r#"{ "prefixes": [ { "ipv4Prefix": "0.0.0.0/0" }, { "ipv6Prefix": "::/0" } ] }"#,
        ),
        ("other prefixes", r#"{ "prefixes": [ { "ipv4Prefix": "198.51.100.128/27" } ] }"#),
        ("no prefix", r#"{ "prefixes": [] }"#),
        ("a page", "<!doctype html><title>Sign in</title>"),
        ("half a feed", &GOOGLE_FEED[..GOOGLE_FEED.len() / 2]),
    ];
    for (poison, content) in poisons {
        world.publish("googlebot", content);
        let updated = world.update(&[]);
        assert_eq!(updated.status, 1, "{poison}: {updated:?}");
        assert!(updated.stderr.contains("googlebot"), "{poison}: {updated:?}");
        world.reload();
        world.all_now("identity=verified", OF_GOOGLE, GOOGLEBOT, "/");
        world.all_now("403", OF_NOBODY, GOOGLEBOT, "/");
    }
    // An operator can accept a new version.
    world.publish("googlebot", poisons[1].1);
    let updated = world.update(&["--only", "googlebot", "--accept", "googlebot"]);
    assert_eq!(updated.status, 0, "{updated:?}");
    world.reload();
    world.all("identity=verified", OF_NOBODY, GOOGLEBOT, "/");
    world.all("403", OF_GOOGLE, GOOGLEBOT, "/");
}
