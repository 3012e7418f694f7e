//! Paths that ask for the markdown of a page: `/a/b.md` for the page `/a/b`, `/a/index.md` for the page `/a/`.

use alloc::vec::Vec;

use memchr::memchr2;

const SUFFIX: &[u8] = b".md";
const INDEX: &[u8] = b"index";

/// The path of the page whose markdown a target asks for, and what follows it: the query. `None`: it asks for none.
///
/// A page whose path ends in a dot has none: `/a/...md` would ask for `/a/..`, after the server has resolved such segments.
pub(crate) fn page_of(target: &[u8]) -> Option<(&[u8], &[u8])> {
    let (path, rest) = target.split_at_checked(memchr2(b'?', b'#', target).unwrap_or(target.len()))?;
    let page = path.strip_suffix(SUFFIX).filter(|page| page.starts_with(b"/"))?;
    let folder = page.strip_suffix(INDEX).filter(|folder| folder.ends_with(b"/"));
    let ends_in_dot = |page: &[u8]| {
        page.ends_with(b".")
            || page.last_chunk().is_some_and(|end: &[u8; 3]| end.eq_ignore_ascii_case(b"%2e"))
    };
    // A path that ends with a slash has its markdown at `index.md`, and nowhere else.
    let page = folder.or(Some(page).filter(|page| !page.ends_with(b"/") && !ends_in_dot(page)))?;
    Some((page, rest))
}

/// The target that asks for the markdown of the page at this target. `None` if there is none that does, or none that can
/// stand in a `Link` as it is: `//a` would be another host there.
pub(crate) fn markdown_of(target: &[u8]) -> Option<Vec<u8>> {
    let (path, rest) = target.split_at_checked(memchr2(b'?', b'#', target).unwrap_or(target.len()))?;
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(byte);
    if !path.starts_with(b"/") || path.starts_with(b"//") || !target.iter().all(is_plain) {
        return None;
    }
    let index = if path.ends_with(b"/") { INDEX } else { b"" };
    let markdown = [path, index, SUFFIX, rest].concat();
    // `/a/index.md` asks for `/a/`, so `/a/index` has none.
    (page_of(&markdown)? == (path, rest)).then_some(markdown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_markdown_of_a_page_has_a_path_of_its_own() {
        for (page, markdown) in [
            ("/a/b", "/a/b.md"),
            ("/a/", "/a/index.md"),
            ("/", "/index.md"),
            ("/a.html?b=c/d.e", "/a.html.md?b=c/d.e"),
            ("/?b", "/index.md?b"),
            ("/a.md", "/a.md.md"),
            ("/a//b%20c", "/a//b%20c.md"),
        ] {
            assert_eq!(markdown_of(page.as_bytes()).as_deref(), Some(markdown.as_bytes()), "{page}");
            let (path, rest) = page_of(markdown.as_bytes()).unwrap();
            assert_eq!([path, rest].concat(), page.as_bytes(), "{markdown}");
        }
        for page in ["/a/index", "/index?b", "/a.", "*", "", "/a b", "/a>", "/\u{17c}", "//evil.example/a"] {
            assert_eq!(markdown_of(page.as_bytes()), None, "{page}");
        }
        for target in ["/...md", "/a/..md", "/a/%2e%2E.md?b", "/a/.%2E.md", "/a%2F...md", "/a%2f%2e%2e.md"] {
            assert_eq!(page_of(target.as_bytes()), None, "{target}");
        }
        for target in
            ["/", "/a", "/a.md/", "/a/.md", "/a.MD", "/.md", "a.md", "/a?b.md", "/a#b.md", "/a.md%20", ""]
        {
            assert_eq!(page_of(target.as_bytes()), None, "{target}");
        }
    }
}
