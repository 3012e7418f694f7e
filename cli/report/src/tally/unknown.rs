//! A name for automation that claims no known agent.

/// A name for clients with this User-Agent: that of a product in it, without its version, and with no more than 64 bytes.
pub(crate) fn name(user_agent: Option<&[u8]>) -> &[u8] {
    const LONGEST: usize = 64;
    let text = user_agent.unwrap_or_default().trim_ascii();
    if text.is_empty() {
        return b"(no User-Agent)";
    }
    let words = || text.split(|byte| b" ;,()[]\"'<>".contains(byte)).filter(|word| !word.is_empty());
    let product = |word: &'_ [u8]| -> usize { memchr::memchr(b'/', word).unwrap_or(word.len()) };
    let named = |word: &&[u8]| is_name_of_automation(&word[..product(word)]);
    let first = || words().find(|word| !is_part_of_browser(&word[..product(word)]));
    let word = words().find(named).or_else(first).or_else(|| words().next()).unwrap_or(text);
    let length = match product(word) {
        0 => word.len(),
        length => length,
    };
    &word[..length.min(LONGEST)]
}

fn is_name_of_automation(product: &[u8]) -> bool {
    let is_address = memchr::memmem::find(product, b"://").is_some() || product.contains(&b'@');
    let says = |sign: &[u8]| product.windows(sign.len()).any(|window| window.eq_ignore_ascii_case(sign));
    !is_address
        && !product.starts_with(b"+")
        && [&b"bot"[..], b"crawl", b"spider", b"headless"].into_iter().any(says)
}

fn is_part_of_browser(product: &[u8]) -> bool {
    const PARTS: &[&str] = &[
        "Mozilla",
        "AppleWebKit",
        "Chrome",
        "Safari",
        "Gecko",
        "KHTML",
        "like",
        "Version",
        "Mobile",
        "compatible",
        "Windows",
        "NT",
        "10.0",
        "6.1",
        "Win64",
        "x64",
        "WOW64",
        "X11",
        "Linux",
        "x86_64",
        "U",
        "en",
        "en-US",
        "MSIE",
        "Macintosh",
        "Intel",
        "Mac",
        "OS",
        "X",
        "10_15_7",
        "iPhone",
        "CPU",
        "Android",
        "Ubuntu",
    ];
    PARTS.iter().any(|part| part.as_bytes() == product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_product() {
        for (user_agent, expected) in [
            ("", "(no User-Agent)"),
            ("  ", "(no User-Agent)"),
            ("curl/8.5.0", "curl"),
            ("python-requests/2.31", "python-requests"),
            ("Mozilla/5.0 (compatible; FooBot/1.0; +http://foobot.example/bot)", "FooBot"),
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0 Safari/537.36",
                "HeadlessChrome",
            ),
            ("Mozilla/5.0 (compatible; WhatCMS/1.0)", "WhatCMS"),
            ("Mozilla/5.0", "Mozilla"),
            ("my fetcher", "my"),
            ("/", "/"),
            ("()", "()"),
            ("Java/17.0.1", "Java"),
        ] {
            let name = name(Some(user_agent.as_bytes()));
            assert_eq!(String::from_utf8_lossy(name), expected, "{user_agent}");
        }
        assert_eq!(name(None), b"(no User-Agent)");
        assert_eq!(name(Some(&[b'x'; 500])).len(), 64);
    }
}
