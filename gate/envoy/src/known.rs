//! The headers that nearly every decision needs, found in one pass.

use crawlpike_core::{HeaderNames, NameLengths};

/// The first line of each header that nearly every decision needs. `V` is a line's value, or its place.
#[derive(Clone, Copy, Debug)]
pub struct KnownHeaders<V> {
    /// The facts that the names of all headers give.
    pub names: HeaderNames,
    /// `:method`
    pub method: Option<V>,
    /// `:path`
    pub path: Option<V>,
    /// `:scheme`
    pub scheme: Option<V>,
    /// `:authority`
    pub authority: Option<V>,
    /// `User-Agent`
    pub user_agent: Option<V>,
    /// True if Envoy says that it has redirected the request by itself, or a client pretends that.
    pub is_redirected: bool,
}

impl<V> Default for KnownHeaders<V> {
    fn default() -> Self {
        Self {
            names: HeaderNames::default(),
            method: None,
            path: None,
            scheme: None,
            authority: None,
            user_agent: None,
            is_redirected: false,
        }
    }
}

/// The lengths of the names that [`KnownHeaders::see`] looks for.
pub const KNOWN_LENGTHS: NameLengths = HeaderNames::LENGTHS
    .and_of(":path")
    .and_of(":method")
    .and_of(":scheme")
    .and_of(":authority")
    .and_of("user-agent")
    .and_of("x-envoy-original-url");

impl<V> KnownHeaders<V> {
    /// Looks at one more line, whose name is in lower case.
    #[inline]
    pub fn see(&mut self, name: &[u8], value: V) {
        let place = match name.len() {
            5 if name == b":path" => &mut self.path,
            7 if name == b":method" => &mut self.method,
            7 if name == b":scheme" => &mut self.scheme,
            10 if name == b":authority" => &mut self.authority,
            10 if name == b"user-agent" => &mut self.user_agent,
            20 if name == b"x-envoy-original-url" => {
                self.is_redirected = true;
                return;
            }
            _ => return self.names.see(name),
        };
        place.get_or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen<'l>(lines: &[(&str, &'l str)]) -> KnownHeaders<&'l str> {
        let mut known = KnownHeaders::default();
        for &(name, value) in lines {
            let before = alloc::format!("{known:?}");
            known.see(name.as_bytes(), value);
            assert!(
                KNOWN_LENGTHS.may_have(name.len()) || before == alloc::format!("{known:?}"),
                "{name} is not among the known lengths"
            );
        }
        known
    }

    #[test]
    fn the_first_line_of_each_header_counts() {
        let known = seen(&[
            (":authority", "shop.test"),
            (":path", "/"),
            (":method", "GET"),
            (":scheme", "https"),
            ("user-agent", "first"),
            ("user-agent", "second"),
            ("accept", "*/*"),
            (":path", "/other"),
        ]);
        assert_eq!(known.authority, Some("shop.test"));
        assert_eq!(known.path, Some("/"));
        assert_eq!(known.method, Some("GET"));
        assert_eq!(known.scheme, Some("https"));
        assert_eq!(known.user_agent, Some("first"));
        assert_eq!((known.names, known.is_redirected), (HeaderNames::default(), false));
    }

    #[test]
    fn the_names_of_headers_give_facts() {
        assert!(seen(&[("x-envoy-original-url", "")]).is_redirected);
        assert!(seen(&[("signature", "")]).names.are_signed);
        for name in ["connection", "x-crawlpike", "x_crawlpike"] {
            assert!(seen(&[(name, "")]).names.may_hide_ours, "{name}");
        }
        let others =
            seen(&[("user-agenu", ""), (":patg", ""), (":schemf", ""), ("x-envoy-original-urk", "")]);
        assert_eq!(others.user_agent.or(others.path).or(others.scheme), None);
        assert!(!others.is_redirected);
    }
}
