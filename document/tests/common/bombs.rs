//! Pages that cost much, as far as anybody has found one.

/// A page that grows.
pub(crate) struct Bomb {
    pub(crate) name: &'static str,
    /// The size of the greater one of two.
    pub(crate) size: usize,
    pub(crate) page: fn(usize) -> String,
}

/// All of them.
pub(crate) const BOMBS: &[Bomb] = &[
    Bomb { name: "nested elements", size: 1_000_000, page: |n| format!("{}text", "<div>".repeat(n)) },
    Bomb {
        name: "nested elements with end tags",
        size: 300_000,
        page: |n| format!("{}text{}", "<div>".repeat(n), "</div>".repeat(n)),
    },
    Bomb {
        name: "attributes of one tag",
        size: 100_000,
        page: |n| format!("<p{}>text", (0..n).map(|i| format!(" a{i}=1")).collect::<String>()),
    },
    Bomb {
        name: "one attribute in one tag, again and again",
        size: 200_000,
        page: |n| format!("<p{}>text", " class=a".repeat(n)),
    },
    Bomb {
        name: "an attribute of megabytes",
        size: 2_000_000,
        page: |n| format!("<p class={}>text", "a".repeat(n)),
    },
    Bomb {
        name: "an address of megabytes",
        size: 2_000_000,
        page: |n| format!("<p><a href={}>text</a>", "a".repeat(n)),
    },
    Bomb { name: "unclosed formatting and links", size: 100_000, page: |n| "<b><i><a href=x>t".repeat(n) },
    Bomb { name: "tags that begin", size: 2_000_000, page: |n| format!("text{}", "<".repeat(n)) },
    Bomb { name: "comments that begin", size: 500_000, page: |n| format!("text{}", "<!--".repeat(n)) },
    Bomb {
        name: "end tags of nothing",
        size: 300_000,
        page: |n| format!("text{}", "</p></b></x>".repeat(n)),
    },
    Bomb { name: "cells", size: 1_000_000, page: |n| format!("<table>{}", "<tr><td>1<td>2".repeat(n / 2)) },
    Bomb { name: "one row of cells", size: 500_000, page: |n| format!("<table><tr>{}", "<td>1".repeat(n)) },
    Bomb { name: "nested tables", size: 200_000, page: |n| format!("{}text", "<table><tr><td>".repeat(n)) },
    Bomb { name: "lists in lists", size: 300_000, page: |n| "<ul><li>t".repeat(n) },
    Bomb {
        name: "quotes of lines",
        size: 300_000,
        page: |n| format!("{}{}", "<blockquote>".repeat(9), "t<br>".repeat(n)),
    },
    Bomb { name: "headings", size: 200_000, page: |n| "<h1 id=a>t".repeat(n) },
    Bomb { name: "images", size: 100_000, page: |n| "t<img src=x alt=y>".repeat(n) },
    Bomb {
        name: "paragraphs named as comments",
        size: 100_000,
        page: |n| "<p class=comment>text of a comment".repeat(n),
    },
    Bomb {
        name: "teasers of an article",
        size: 50_000,
        page: |n| {
            let article = "Prose that is as long as that of an article. ".repeat(20);
            let teasers = "<div><h2><a href=x>t</a></h2><p>u</div>".repeat(n);
            format!("<meta property=og:type content=article><p>{article}<div>{teasers}")
        },
    },
    Bomb { name: "text to escape", size: 300_000, page: |n| "*_".repeat(n) },
    Bomb { name: "character references", size: 500_000, page: |n| "&amp".repeat(n) },
];
