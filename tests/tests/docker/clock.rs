//! Clocks that jump.

use std::path::Path;

use crate::engine::images;
use crate::world::{GOOGLEBOT, OF_GOOGLE, OF_NOBODY, World, mount, public_folder};

#[test]
fn a_jump_of_the_clock_makes_nobody_an_impostor() {
    let mut world = World::new();
    let clock = public_folder();
    clock.write("now", "+0");
    // The image of nginx, in which a library shifts the clock.
    world.gates.truncate(0);
    let nginx = world.gate_with(
        "nginx",
        images().clock,
        "native",
        "198.51.100.2",
        "2001:db8:c::2",
        &[mount(Path::new(clock.path()), "/clock")],
    );
    world.gates.push(nginx);
    world.with_feeds();

    // A month later, and no update since: the feed is older than its `max_age`, and proves nothing.
    clock.write("now", "+30d");
    world.reload();
    world.all("identity=unverified", OF_GOOGLE, GOOGLEBOT, "/");
    world.all_now("identity=unverified", OF_NOBODY, GOOGLEBOT, "/");
    world.gates[0].container.wait_for_log(&["googlebot", "7d"]);

    // Back again, so that the answers differ.
    clock.write("now", "+0");
    world.reload();
    world.all("identity=verified", OF_GOOGLE, GOOGLEBOT, "/");
    world.all("403", OF_NOBODY, GOOGLEBOT, "/");

    // Years before: the feed is from the future, so nobody knows its age, and it proves nothing.
    clock.write("now", "-3000d");
    world.reload();
    world.all("identity=unverified", OF_GOOGLE, GOOGLEBOT, "/");
    world.all_now("identity=unverified", OF_NOBODY, GOOGLEBOT, "/");
    clock.write("now", "+0");
    world.reload();
    world.all("identity=verified", OF_GOOGLE, GOOGLEBOT, "/");
    world.all("403", OF_NOBODY, GOOGLEBOT, "/");
}
