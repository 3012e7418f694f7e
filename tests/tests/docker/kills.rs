//! `kill -9` of everything, and restarts.

use crate::engine::docker;
use crate::world::{FIREFOX, GOOGLE_FEED, GOOGLEBOT, OF_GOOGLE, OF_NOBODY, World};

#[test]
fn verdicts_survive_killed_workers_and_gates() {
    let world = World::new();
    world.with_feeds();

    let nginx = &world.gates[0];
    let load = world.load(nginx, 100);
    // The master's children; `docker top` shows the numbers that the engine's machine has.
    let workers =
        nginx.container.exec(&["sh", "-c", "grep -l worker /proc/[0-9]*/cmdline | cut -d / -f 3"]).stdout;
    let worker = workers.lines().next().expect("a worker");
    let killed = nginx.container.exec(&["bash", "-c", &format!("kill -KILL {worker}")]);
    assert_eq!(killed.status, 0, "{killed:?}");
    // The connections of the killed worker are gone with it; nobody gets a wrong answer.
    drop(load);
    world.all("identity=verified", OF_GOOGLE, GOOGLEBOT, "/");
    world.all("403", OF_NOBODY, GOOGLEBOT, "/");
    nginx.container.wait_for_log(&["exited on signal 9"]);

    // From outside, as the kernel does when memory is short.
    for gate in &world.gates {
        gate.container.signal("KILL");
        docker(&["wait", &gate.container.0]);
        docker(&["start", &gate.container.0]);
    }
    world.all("200 []", OF_NOBODY, FIREFOX, "/");
    world.all("identity=verified", OF_GOOGLE, GOOGLEBOT, "/");
    world.all("403", OF_NOBODY, GOOGLEBOT, "/");
    for gate in &world.gates {
        assert_eq!(gate.container.inspect("{{.HostConfig.ReadonlyRootfs}}"), "true", "{}", gate.name);
    }
}

#[test]
fn an_updater_that_is_killed_leaves_the_old_feed_or_the_new_one() {
    let world = World::new();
    world.with_feeds();
    let wider = GOOGLE_FEED
        .replace("198.51.100.80/28", "198.51.100.80/28\" }, { \"ipv4Prefix\": \"198.51.100.128/28");
    world.publish("googlebot", &wider);
    let killed = world.update_killed_before_rename();
    assert_ne!(killed.status, 0, "{killed:?}");
    world.reload();
    world.all_now("identity=verified", OF_GOOGLE, GOOGLEBOT, "/");
    world.all_now("403", OF_NOBODY, GOOGLEBOT, "/");

    let updated = world.update(&[]);
    assert_eq!(updated.status, 0, "{updated:?}");
    world.reload();
    world.all("identity=verified", OF_NOBODY, GOOGLEBOT, "/");
}
