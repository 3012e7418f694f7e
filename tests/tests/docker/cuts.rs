//! Servers that are down, and networks that are cut.

use crate::engine::docker;
use crate::world::{FIREFOX, GOOGLEBOT, OF_GOOGLE, OF_NOBODY, World};

#[test]
fn verdicts_outlive_the_publisher_and_the_origin() {
    let world = World::new();
    world.with_feeds();
    let verdicts = || {
        world.all_now("identity=verified", OF_GOOGLE, GOOGLEBOT, "/");
        world.all_now("403", OF_NOBODY, GOOGLEBOT, "/");
    };
    let fails = |what: &str| {
        let updated = world.update(&["--timeout", "5", "--stall", "2"]);
        assert_eq!(updated.status, 1, "{what}: {updated:?}");
        world.reload();
        verdicts();
    };

    docker(&["stop", "--time", "1", &world.publisher.0]);
    fails("a publisher that is down");
    docker(&["start", &world.publisher.0]);
    docker(&["network", "disconnect", &world.feeds_network.0, &world.publisher.0]);
    fails("a publisher that cannot be reached");
    docker(&[
        "network",
        "connect",
        "--alias",
        "publisher.example",
        &world.feeds_network.0,
        &world.publisher.0,
    ]);
    let updated = world.update(&["--only", "googlebot", "--accept", "googlebot"]);
    assert_eq!(updated.status, 0, "{updated:?}");

    // Denials need no origin; what is allowed gets the server's own error, and the origin again when it is back.
    let address = world.origin.inspect("{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}");
    docker(&["network", "disconnect", &world.origin_network.0, &world.origin.0]);
    world.all_now("403", OF_NOBODY, GOOGLEBOT, "/");
    for gate in &world.gates {
        let answer = world.ask(gate, OF_NOBODY, FIREFOX, "/");
        assert!(!answer.starts_with("200"), "{}: {answer}", gate.name);
    }
    let network = &world.origin_network.0;
    docker(&["network", "connect", "--ip", &address, "--alias", "origin.example", network, &world.origin.0]);
    world.all("200 []", OF_NOBODY, FIREFOX, "/");
    world.all("identity=verified", OF_GOOGLE, GOOGLEBOT, "/");
}
