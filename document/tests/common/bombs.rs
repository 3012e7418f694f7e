//! Pages that cost much, as far as anybody has found one.

use Times::{Exactly, Part};

/// A page that grows.
pub(crate) struct Bomb {
    pub(crate) name: &'static str,
    /// The size of the greater one of two.
    pub(crate) size: usize,
    /// The pieces that the page consists of.
    pieces: &'static [(&'static str, Times)],
}

/// The number of times that a piece follows itself. In each, `{i}` is its number, and `{next}` that of the next one.
#[derive(Clone, Copy)]
enum Times {
    Exactly(usize),
    /// One part in so many of the size.
    Part(usize),
}

const ONCE: Times = Exactly(1);
const EACH: Times = Part(1);

impl Bomb {
    /// The page of a size.
    pub(crate) fn page(&self, size: usize) -> String {
        let piece = |(text, times): &(&str, Times)| {
            let times = match times {
                Exactly(times) => *times,
                Part(part) => size / part,
            };
            match text.contains("{i}") {
                true => (0..times).map(|i| numbered(text, i, times)).collect(),
                false => text.repeat(times),
            }
        };
        self.pieces.iter().map(piece).collect()
    }
}

fn numbered(text: &str, number: usize, of: usize) -> String {
    text.replace("{i}", &number.to_string()).replace("{next}", &((number + 1) % of).to_string())
}

const fn bomb(name: &'static str, size: usize, pieces: &'static [(&'static str, Times)]) -> Bomb {
    Bomb { name, size, pieces }
}

/// All of them, a row for each.
#[rustfmt::skip]
pub(crate) const BOMBS: &[Bomb] = &[
    bomb("nested elements", 1_000_000, &[("<div>", EACH), ("text", ONCE)]),
    bomb("nested elements with end tags", 300_000, &[("<div>", EACH), ("text", ONCE), ("</div>", EACH)]),
    bomb("attributes of one tag", 100_000, &[("<p", ONCE), (" a{i}=1", EACH), (">text", ONCE)]),
    bomb("one attribute in one tag, again and again", 200_000, &[("<p", ONCE), (" class=a", EACH), (">text", ONCE)]),
    bomb("an attribute of megabytes", 2_000_000, &[("<p class=", ONCE), ("a", EACH), (">text", ONCE)]),
    bomb("an address of megabytes", 2_000_000, &[("<p><a href=", ONCE), ("a", EACH), (">text", ONCE)]),
    bomb("unclosed formatting and links", 100_000, &[("<b><i><a href=x>t", EACH)]),
    bomb("tags that begin", 2_000_000, &[("text", ONCE), ("<", EACH)]),
    bomb("comments that begin", 500_000, &[("text", ONCE), ("<!--", EACH)]),
    bomb("end tags of nothing", 300_000, &[("text", ONCE), ("</p></b></x>", EACH)]),
    bomb("cells", 500_000, &[("<table>", ONCE), ("<tr><td>1<td>2", EACH)]),
    bomb("one row of cells", 500_000, &[("<table><tr>", ONCE), ("<td>1", EACH)]),
    bomb("nested tables", 200_000, &[("<table><tr><td>", EACH), ("text", ONCE)]),
    bomb("lists in lists", 300_000, &[("<ul><li>t", EACH)]),
    bomb("quotes of lines", 300_000, &[("<blockquote>", Exactly(9)), ("t<br>", EACH)]),
    bomb("headings", 200_000, &[("<h1 id=a>t", EACH)]),
    bomb("images", 100_000, &[("t<img src=x alt=y>", EACH)]),
    bomb("paragraphs named as comments", 100_000, &[("<p class=comment>text of a comment", EACH)]),
    bomb("teasers of an article", 50_000,
        &[("<meta property=og:type content=article><p>", ONCE), ("Prose that is as long as that of an article. ", Exactly(20)), ("<p><div>", ONCE), ("<div><h2><a href=x>t</a></h2><p>u</div>", EACH), ("</div>", ONCE)]),
    bomb("leads at each level", 10_000,
        &[("<h1>text</h1>", ONCE), ("<div><p>A lead of a hundred bytes, which stands between the heading and the text, at each level of this page.</p>", EACH), ("<p>", ONCE), ("The text below all of the leads. ", Part(2))]),
    bomb("headers in headers", 100_000, &[("<header><div><h2>text</h2>", EACH), ("<p>", ONCE), ("The text below all of the headers. ", EACH)]),
    bomb("headers with a lead", 20_000,
        &[("<header><h1>text</h1><div>A name<b>a date</b><p>A lead of a hundred bytes, which stands between the heading and the text, in each header.</div></header>", EACH), ("<main><p>", ONCE), ("The text below all of the headers. ", Part(2))]),
    bomb("buttons that say what they control", 100_000, &[("<button aria-controls=last>text</button>", EACH), ("<div id=last><p>text", ONCE)]),
    bomb("posts of one class", 50_000, &[("<div class=post>", EACH), ("<div class=post><p>A post of more than fifty bytes, which nobody answers.</div>", EACH)]),
    bomb("text in the color behind it", 50_000, &[("<div style='color:#fff'>text<div style='color:#000'>text", EACH)]),
    bomb("lines of code in lines of code", 100_000, &[("<pre>", ONCE), ("<span class=line>text", EACH)]),
    bomb("things with their prices", 50_000,
        &[("<main><h1>text</h1>", ONCE), ("<div><a href=x>t{i}</a><b>$1</b></div>", EACH), ("<p>Prose about all of these things.", ONCE)]),
    bomb("copies in copies", 20_000,
        &[("<main><h1>text</h1>", ONCE), ("<div><p>Text that stands right before itself, once more.</p><p>It has two blocks.</p></div><section>", EACH)]),
    bomb("text to escape", 300_000, &[("*_", EACH)]),
    bomb("character references", 500_000, &[("&amp", EACH)]),
    bomb("slots of one shadow tree", 100_000,
        &[("<x-a><template shadowrootmode=open>", ONCE), ("<slot name=s{i}></slot>", EACH), ("</template>", ONCE), ("<p slot=s{i}>t", EACH), ("</x-a>", ONCE)]),
    bomb("slots of one name", 100_000,
        &[("<x-a><template shadowrootmode=open>", ONCE), ("<slot></slot><slot name=a>t</slot>", EACH), ("</template>text", ONCE)]),
    bomb("shadow trees in each other", 100_000,
        &[("text", ONCE), ("<x-a><template shadowrootmode=open><slot></slot></template>t", EACH)]),
    bomb("parts in parts", 50_000,
        &[("<p>text<template id=P:0></template>", ONCE), ("<div hidden id=S:{i}>t<template id=P:{next}></template></div>", EACH), ("<script>", ONCE), ("$RS('S:{i}','P:{i}');", EACH), ("</script>", ONCE)]),
    bomb("parts that name each other and themselves", 50_000,
        &[("<p>text", ONCE), ("<div hidden id=S:{i}><template id=P:{i}></template>t</div>", EACH), ("<script>", ONCE), ("$RC('P:{i}','S:{next}');$RC('P:{i}','S:{i}');", EACH), ("</script>", ONCE)]),
    bomb("comments that begin parts", 300_000,
        &[("text", ONCE), ("<b><!--$?-->", EACH), ("<script>$RC('a','b')</script>", ONCE)]),
    bomb("rows that cells of thousands of columns go on in", 100_000,
        &[("<p>text<table><tr>", ONCE), ("<td rowspan=65534 colspan=9>1", Exactly(1000)), ("<tr><td>2", EACH)]),
    bomb("a long cell that goes on", 100_000,
        &[("<p>text<table><tr><td rowspan=65534>", ONCE), ("long ", EACH), ("<tr><td>2", Part(2))]),
    bomb("rules of one name", 60_000,
        &[("<style>", ONCE), (".b{i}.a{display:none}", EACH), ("</style>text", ONCE), ("<p class=a>t", EACH)]),
    bomb("rules that all mean an element", 60_000,
        &[("<style>", ONCE), (".b{i}{display:none}", EACH), ("</style>text", ONCE), ("<p class=b{i}>t", EACH)]),
    bomb("selectors without end", 300_000,
        &[("<style>", ONCE), ("a,.b>", EACH), ("{display:none}</style>", ONCE), ("<p class=b>t", Part(8))]),
    bomb("a style sheet that opens blocks, comments and strings", 200_000,
        &[("<style>", ONCE), ("@media x{/*\"a{b:c", EACH), ("</style>text", ONCE)]),
    bomb("a style sheet of escapes and strings", 200_000,
        &[("<style>", ONCE), ("\\{'}'\"", EACH), ("</style>text", ONCE)]),
    bomb("a name of escapes in a style sheet", 1_000_000,
        &[("<style>.", ONCE), ("\\61 ", Part(4)), ("{display:none}</style>text", ONCE)]),
    bomb("sections and posts beside each other", 100_000,
        &[("<main>", ONCE), ("<section><h2>t</h2><p>Text that has more than thirty bytes.</section><article><p>Text that has more than thirty bytes.</article>", EACH)]),
    bomb("declarations of style attributes", 160_000,
        &[("text", ONCE), ("<p style='width:1px;width:1px;width:1px;width:1px;width:1px;width:1px;width:1px'>t", Part(7))]),
    bomb("templates in tables", 200_000, &[("text", ONCE), ("<table><template><td>", EACH)]),
    bomb("notes in notes", 200_000,
        &[("<p>text that is beside a note</p>", ONCE), ("<aside class=note>t<p>text", EACH)]),
    bomb("notes beside each other", 100_000,
        &[("<p>text that is beside a note</p>", ONCE), ("<aside>t</aside>", EACH)]),
    bomb("panels named by one long tab", 50_000,
        &[("<div id=a role=tab aria-controls=a>", ONCE), ("text ", EACH), ("</div>", ONCE), ("<div role=tabpanel aria-labelledby=a hidden>t</div>", EACH)]),
    bomb("videos in each other", 100_000, &[("text", ONCE), ("<video controls title=t><source src=x>", EACH)]),
    bomb("frames", 100_000, &[("text", ONCE), ("<iframe src=x title=t></iframe>", EACH)]),
    bomb("footers beside each other", 100_000, &[("text<section>", ONCE), ("<footer>A sentence.</footer>", EACH)]),
    bomb("indices of indices in code", 100_000, &[("text 1", ONCE), ("<sub>1", EACH), ("<code>", ONCE), ("<sup>1", EACH)]),
    bomb("items behind others in a cell", 100_000,
        &[("text<table><tr><th>a<th>b<tr><td>1<td><ul>", ONCE), ("<b></b>", EACH), ("<li>t", EACH)]),
    bomb("powers of powers", 100_000, &[("text", ONCE), ("<sup>2", EACH)]),
    bomb("figures in figures", 100_000, &[("text", ONCE), ("<figure><img src=x alt=y>t", EACH)]),
    bomb("captions in captions", 100_000, &[("text", ONCE), ("<div class=caption><img src=x alt=y>t", EACH)]),
    bomb("sets of tabs", 50_000, &[("text", ONCE), ("<ul class=tabs><li>a<li>b</ul><div><p>t<p>u</div>", EACH)]),
    bomb("labels of no tabs", 50_000, &[("text", ONCE), ("<ul class=tabs><li>a<li>b</ul>", EACH)]),
    bomb("links around blocks", 100_000, &[("text", ONCE), ("<p><a href=x>t<div>u", EACH)]),
    bomb("paragraphs of links", 100_000, &[("<p>Text that stands before all of the links, and is prose.", ONCE), ("<p><a href=x>a.b</a>", EACH)]),
    bomb("tables by their roles", 100_000, &[("text", ONCE), ("<div role=table><div role=row><span role=cell>t", EACH)]),
    bomb("cells with names", 100_000, &[("text<table>", ONCE), ("<tr><td class=date>1<td class=date>2", EACH)]),
    bomb("tables with names in each other", 100_000, &[("text", ONCE), ("<table><tr><td class=date>1", EACH)]),
    bomb("lists directly in lists", 100_000, &[("text", ONCE), ("<ol><li>t</li>", EACH)]),
    bomb("sections with footers", 100_000, &[("text", ONCE), ("<section><p>t<footer>A sentence.", EACH)]),
    bomb("questions in footers in each other", 100_000, &[("text", ONCE), ("<section><footer><h3>Who?</h3>Text of an answer with forty bytes or more.", EACH)]),
    bomb("dates in items beside others with a long class", 20_000,
        &[("text<ul>", ONCE), ("<li class=", ONCE), ("a", Exactly(8000)), (">", ONCE), ("<li>t", Exactly(64)), ("<li><p class=date>1", EACH)]),
    bomb("lists that text announces", 50_000, &[("text<main>", ONCE), ("<p>These are all of them, in their order:<ul><li><a href=x>t</a></ul>", EACH)]),
    bomb("notes in parts of one class", 50_000, &[("text<main>", ONCE), ("<div class=a><div class=alert role=alert>t</div></div><div class=a>Text of a paragraph, with enough letters to be prose.</div>", EACH)]),
    bomb("links behind runs of blanks", 50_000,
        &[("text<section><footer><h2>Who?</h2><p>Text of an answer with forty bytes or more.</p><div>", ONCE), ("\u{a0}", Exactly(200_000)), ("x", ONCE), ("<a href=x></a>", EACH)]),
    bomb("buttons behind runs of blanks in a heading", 1_000_000,
        &[("<h1>", ONCE), ("\u{a0}", Part(4)), ("<button>x</button>", Part(20)), ("</h1><p>text", ONCE)]),
    bomb("parts in lines behind runs of blanks", 50_000,
        &[("text<div>", ONCE), ("\u{a0}", Exactly(200_000)), ("<i class=ads></i>", EACH)]),
    bomb("sentences of nothing", 100_000, &[("text", ONCE), ("<div role=tablist>", Exactly(100)), ("<p><marquee>", Exactly(50)), ("<br>", EACH)]),
    bomb("links of numbers in each other", 100_000, &[("text", ONCE), ("<div>", Exactly(100)), ("<a href=x><marquee>", Exactly(60)), ("1", ONCE), ("<br>", EACH)]),
    bomb("code in parts with names", 100_000, &[("text", ONCE), ("<div class=toolbar><pre>t</pre>", EACH)]),
    bomb("fractions in fractions", 100_000, &[("text<math>", ONCE), ("<mfrac><mi>t</mi>", EACH)]),
    bomb("formulas in formulas", 100_000, &[("text", ONCE), ("<math><mi>t", EACH)]),
    bomb("parts for browsers without scripts", 50_000,
        &[("text", ONCE), ("<img alt=a><noscript><img src=x alt=a></noscript><noscript>t{i}", Part(2)), ("<noscript>", ONCE), ("text ", EACH)]),
    bomb("parts that buttons open", 100_000, &[("text", ONCE), ("<button>t</button><p hidden>Text that has more than sixty bytes, as an answer has.", EACH)]),
    bomb("parts that are called alike", 100_000, &[("text", ONCE), ("<b class=b{i}>t</b><p class=p hidden>t", EACH)]),
    bomb("hidden parts beside each other", 100_000, &[("<main>", ONCE), ("<p style=display:none>t", EACH)]),
    bomb("hidden parts in each other", 100_000, &[("<main><button>t</button>", ONCE), ("<div style=display:none>", EACH), ("text", ONCE)]),
    bomb("spans beside each other", 100_000, &[("text", ONCE), ("<span class=a>Text</span><span class=b>1</span>", EACH)]),
    bomb("spans of one word", 200_000, &[("text", ONCE), ("<span>t</span>", EACH)]),
    bomb("states of a selector", 500_000, &[("<a>text</a><style>a", ONCE), (":a", EACH), ("{display:none}</style>", ONCE)]),
    bomb("headings in each other", 400_000, &[("<h1><div><h2><div>", Exactly(16)), ("text ", EACH)]),
    bomb("objects of JSON-LD", 20_000,
        &[("<p>text<script type='application/ld+json'>{\"a\":[0", ONCE), (",{\"\":0}", EACH), ("]}</script>", ONCE)]),
    bomb("rules in each other", 100_000, &[("<p class=a>text<style>", ONCE), (".a{", EACH)]),
    bomb("rules in a rule", 50_000, &[("<p class=a>text<style>.a{", ONCE), ("&.b{display:none}", EACH)]),
    bomb("media in a rule with many selectors", 50_000,
        &[("<p class=a>text<style>.a", ONCE), (",.b", Part(4)), ("{", ONCE), ("@media all{}", EACH), ("}", ONCE)]),
    bomb("rules in a rule with a long selector", 50_000,
        &[("<p class=a>text<style>.a:is(", ONCE), (".b,", Part(2)), ("x){", ONCE), ("&{}", EACH), ("}", ONCE)]),
    bomb("lists of selectors in lists of selectors", 50_000,
        &[("<p class=a>text<style>", ONCE), (".a,", Part(2)), ("x{", ONCE), ("&&,", EACH), ("x{display:none}", ONCE)]),
    bomb("lists of selectors", 100_000, &[("<p class=a>text<style>", ONCE), (":is(.a,", EACH), ("x){display:none}</style>", ONCE)]),
];
