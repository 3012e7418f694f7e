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
    Bomb {
        name: "slots of one shadow tree",
        size: 100_000,
        page: |n| {
            let children: String = (0..n).map(|i| format!("<p slot=s{i}>t")).collect();
            let slots: String = (0..n).map(|i| format!("<slot name=s{i}></slot>")).collect();
            format!("<x-a><template shadowrootmode=open>{slots}</template>{children}</x-a>")
        },
    },
    Bomb {
        name: "slots of one name",
        size: 100_000,
        page: |n| {
            format!(
                "<x-a><template shadowrootmode=open>{}</template>text",
                "<slot></slot><slot name=a>t</slot>".repeat(n)
            )
        },
    },
    Bomb {
        name: "shadow trees in each other",
        size: 100_000,
        page: |n| format!("text{}", "<x-a><template shadowrootmode=open><slot></slot></template>t".repeat(n)),
    },
    Bomb {
        name: "parts in parts",
        size: 50_000,
        page: |n| {
            let parts: String = (0..n)
                .map(|i| format!("<div hidden id=S:{i}>t<template id=P:{}></template></div>", i + 1))
                .collect();
            let calls: String = (0..n).map(|i| format!("$RS('S:{i}','P:{i}');")).collect();
            format!("<p>text<template id=P:0></template>{parts}<script>{calls}</script>")
        },
    },
    Bomb {
        name: "parts that name each other and themselves",
        size: 50_000,
        page: |n| {
            let part = |i| format!("<div hidden id=S:{i}><template id=P:{i}></template>t</div>");
            let parts: String = (0..n).map(part).collect();
            let calls: String =
                (0..n).map(|i| format!("$RC('P:{i}','S:{}');$RC('P:{i}','S:{i}');", (i + 1) % n)).collect();
            format!("<p>text{parts}<script>{calls}</script>")
        },
    },
    Bomb {
        name: "comments that begin parts",
        size: 300_000,
        page: |n| format!("text{}<script>$RC('a','b')</script>", "<b><!--$?-->".repeat(n)),
    },
    Bomb {
        name: "rows that cells of thousands of columns go on in",
        size: 100_000,
        page: |n| {
            let first = "<td rowspan=65534 colspan=9>1".repeat(1000);
            format!("<p>text<table><tr>{first}{}", "<tr><td>2".repeat(n))
        },
    },
    Bomb {
        name: "a long cell that goes on",
        size: 100_000,
        page: |n| {
            format!("<p>text<table><tr><td rowspan=65534>{}{}", "long ".repeat(n), "<tr><td>2".repeat(n / 2))
        },
    },
    Bomb {
        name: "rules of one name",
        size: 60_000,
        page: |n| {
            let rules: String = (0..n).map(|i| format!(".b{i}.a{{display:none}}")).collect();
            format!("<style>{rules}</style>text{}", "<p class=a>t".repeat(n))
        },
    },
    Bomb {
        name: "selectors without end",
        size: 300_000,
        page: |n| {
            format!("<style>{}{{display:none}}</style>{}", "a,.b>".repeat(n), "<p class=b>t".repeat(n / 8))
        },
    },
    Bomb {
        name: "a style sheet that opens blocks, comments and strings",
        size: 200_000,
        page: |n| format!("<style>{}</style>text", "@media x{/*\"a{b:c".repeat(n)),
    },
    Bomb {
        name: "declarations of a style attribute",
        size: 2_000,
        page: |n| format!("text{}", format!("<p style='{}'>t", "width:1px;".repeat(80)).repeat(n)),
    },
    Bomb {
        name: "templates in tables",
        size: 200_000,
        page: |n| format!("text{}", "<table><template><td>".repeat(n)),
    },
    Bomb {
        name: "notes in notes",
        size: 200_000,
        page: |n| format!("<p>text that is beside a note</p>{}", "<aside class=note>t<p>text".repeat(n)),
    },
    Bomb {
        name: "notes beside each other",
        size: 100_000,
        page: |n| format!("<p>text that is beside a note</p>{}", "<aside>t</aside>".repeat(n)),
    },
    Bomb {
        name: "panels named by one long tab",
        size: 50_000,
        page: |n| {
            let panels = "<div role=tabpanel aria-labelledby=a hidden>t</div>".repeat(n);
            format!("<div id=a role=tab aria-controls=a>{}</div>{panels}", "text ".repeat(n))
        },
    },
    Bomb {
        name: "formulas in formulas",
        size: 100_000,
        page: |n| format!("text{}", "<math><mi>t".repeat(n)),
    },
];
