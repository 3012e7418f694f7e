//! The images as users get them: from a registry, or from an archive.

use crawlpike_tests::nginx::Folder;
use crawlpike_tests::registry::Registry;

use crate::engine::{docker, images};

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[test]
fn images_say_what_they_are() {
    let images = images();
    for (image, title) in [
        (images.cli, "Crawlpike, the command line"),
        (images.nginx, "nginx with Crawlpike"),
        (images.envoy, "Envoy with Crawlpike"),
    ] {
        for (label, value) in [("title", title), ("version", VERSION), ("licenses", "Apache-2.0")] {
            let format = format!("{{{{index .Config.Labels \"org.opencontainers.image.{label}\"}}}}");
            assert_eq!(docker(&["inspect", "--format", &format, image]), value, "{image}");
        }
    }
}

#[test]
fn an_image_from_a_registry_and_one_from_an_archive_run() {
    let (registry, folder, local) = (Registry::start(), Folder::new(), images().cli);
    let id = |image: &str| docker(&["inspect", "--format", "{{.Id}}", image]);
    let runs = |image: &str| docker(&["run", "--rm", image, "--version"]);

    let published = format!("{}/crawlpike:{VERSION}", registry.address());
    docker(&["tag", local, &published]);
    docker(&["push", "-q", &published]);
    docker(&["rmi", &published]);
    docker(&["pull", "-q", &published]);
    assert_eq!((runs(&published), id(&published)), (format!("crawlpike {VERSION}"), id(local)));

    let archive = folder.path().join("crawlpike.tar").display().to_string();
    docker(&["save", "-o", &archive, &published]);
    docker(&["rmi", &published]);
    docker(&["load", "-q", "-i", &archive]);
    assert_eq!((runs(&published), id(&published)), (format!("crawlpike {VERSION}"), id(local)));
    docker(&["rmi", &published]);
}
