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

/// A target with slashes merged before dot segments are resolved, and the other way round. It begins with a slash, and
/// the crate encodes none of its characters.
pub(crate) fn resolve(target: &str) -> [String; 2] {
    let target = target.split('#').next().unwrap_or_default();
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    [without_dot_segments(&merge_slashes(path)), merge_slashes(&without_dot_segments(path))]
        .map(|path| path + query)
}
