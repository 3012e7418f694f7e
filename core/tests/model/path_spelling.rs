//! Resolved paths as the `url` crate makes them, which implements the specification that browsers follow.

use url::Url;

/// The path with each run of slashes as one.
fn merge_slashes(path: &str) -> String {
    let mut merged = String::new();
    for character in path.chars() {
        if character != '/' || !merged.ends_with('/') {
            merged.push(character);
        }
    }
    merged
}

fn without_dot_segments(path: &str) -> String {
    Url::parse(&format!("http://example.com{path}")).unwrap().path().to_owned()
}

/// A path without percent-encoded reserved characters (RFC 3986, 2.2), but for `?` and `#`.
fn decoded(path: &str) -> String {
    ":/[]@!$&'()*+,;=".chars().fold(path.to_owned(), |path, reserved| {
        let encoded = format!("%{:02X}", u32::from(reserved));
        path.replace(&encoded, &reserved.to_string()).replace(&encoded.to_lowercase(), &reserved.to_string())
    })
}

/// A path whose segments end before their first `;`, encoded or not.
fn without_parameters(path: &str) -> String {
    let cut = |segment: &str| {
        let segment = segment.replace("%3b", "%3B");
        segment.split("%3B").next().unwrap_or_default().split(';').next().unwrap_or_default().to_owned()
    };
    path.split('/').map(cut).collect::<Vec<_>>().join("/")
}

/// A target with slashes merged before dot segments are resolved, the other way round, the first with reserved characters
/// decoded, and that without parameters. It begins with a slash, and the crate encodes none of its characters.
pub(crate) fn resolve(target: &str) -> [String; 4] {
    let target = target.split('#').next().unwrap_or_default();
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let slashes_first = |path: &str| without_dot_segments(&merge_slashes(path));
    [
        slashes_first(path),
        merge_slashes(&without_dot_segments(path)),
        slashes_first(&decoded(path)),
        slashes_first(&decoded(&without_parameters(path))),
    ]
    .map(|path| path + query)
}
