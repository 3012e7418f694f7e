//! Messages, comments and pages are free of the phrases that `docs/style.md` rules out.

use std::fmt::Write;
use std::path::Path;

use crawlpike_tests::sources;
use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, tokenize};

/// Phrases of words in lower case.
const PHRASES: [&str; 13] = [
    "has not the",
    "have not the",
    "to be had",
    "whatever becomes",
    "thereof",
    "told",
    "tells",
    "whom",
    "crawlpike tell",
    "is there twice",
    "are there twice",
    "of today",
    "everybody knows",
];

/// The words with which a description does not begin: it states what an item is or does.
const NO_BEGINNINGS: [&str; 8] = ["whether", "what", "who", "whose", "whom", "where", "why", "how"];

/// The ends of the names of files whose comments and messages are read line by line.
const OTHERS: [&str; 14] = [
    "md", "py", "toml", "yaml", "yml", "tpl", "conf", "c", "service", "timer", "supp", "run", "setup",
    "Makefile",
];

/// The phrases of a text that its readers stumble over.
fn phrases(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let mut found = Vec::new();
    for phrase in PHRASES {
        let of_phrase: Vec<&str> = phrase.split(' ').collect();
        if words.windows(of_phrase.len()).any(|window| window == of_phrase) {
            found.push(phrase.to_owned());
        }
    }
    for (at, window) in words.windows(2).enumerate() {
        let before = at.checked_sub(1).map(|at| words[at]);
        let after = words.get(at + 2).copied();
        let is_plain = before == Some("there") || matches!(after, Some("longer" | "more" | "less" | "one"));
        if matches!(window, ["is" | "are", "no"]) && !is_plain {
            found.push(format!("{} no {}", window[0], after.unwrap_or_default()));
        }
    }
    found
}

/// A comment, or the text of a literal, with the line that it begins in.
struct Piece {
    line: usize,
    text: String,
    is_comment: bool,
}

/// The comments and the string literals of a source. Line comments that follow each other are one piece.
fn pieces(source: &str) -> Vec<Piece> {
    let mut found: Vec<Piece> = Vec::new();
    let (mut at, mut line, mut follows) = (0, 1, false);
    for token in tokenize(source, FrontmatterAllowed::No) {
        let text = &source[at..at + token.len as usize];
        at += text.len();
        match token.kind {
            TokenKind::LineComment { .. } => {
                let comment = text.trim_start_matches(['/', '!']);
                match found.last_mut() {
                    Some(last) if follows => last.text.push_str(comment),
                    _ => found.push(Piece { line, text: comment.to_owned(), is_comment: true }),
                }
                follows = true;
            }
            TokenKind::BlockComment { .. } => {
                let comment = text.trim_start_matches(['/', '*', '!']).to_owned();
                found.push(Piece { line, text: comment, is_comment: true });
                follows = false;
            }
            TokenKind::Literal {
                kind:
                    LiteralKind::Str { .. }
                    | LiteralKind::ByteStr { .. }
                    | LiteralKind::CStr { .. }
                    | LiteralKind::RawStr { .. }
                    | LiteralKind::RawByteStr { .. }
                    | LiteralKind::RawCStr { .. },
                ..
            } => {
                found.push(Piece { line, text: text.replace("\\n", "\n"), is_comment: false });
                follows = false;
            }
            TokenKind::Whitespace if text.matches('\n').count() < 2 => {}
            _ => follows = false,
        }
        line += text.matches('\n').count();
    }
    found
}

fn check_source(path: &Path, found: &mut String) {
    for piece in pieces(&sources::text(path)) {
        let place = format!("{}:{}", path.display(), piece.line);
        for phrase in phrases(&piece.text) {
            writeln!(found, "{place}: {phrase:?}").unwrap();
        }
        let first = piece.text.split_whitespace().next().unwrap_or_default();
        let is_question =
            piece.text.split_inclusive(['.', '?']).next().is_some_and(|text| text.ends_with('?'));
        if piece.is_comment && !is_question && NO_BEGINNINGS.contains(&first.to_lowercase().as_str()) {
            writeln!(found, "{place}: begins with {first:?}").unwrap();
        }
    }
}

#[test]
fn messages_and_comments_are_in_plain_english() {
    let mut found = String::new();
    // This file has the phrases themselves.
    for path in sources::files_with(".", "rs").iter().filter(|path| !path.ends_with("tests/tests/style.rs")) {
        check_source(path, &mut found);
    }
    assert!(found.is_empty(), "docs/style.md shows what to write instead:\n{found}");
}

#[test]
fn pages_and_scripts_are_in_plain_english() {
    let mut found = String::new();
    let files = sources::files(".").into_iter().filter(|path| {
        let end = path.extension().or_else(|| path.file_name()).unwrap_or_default();
        // The guide has the phrases themselves.
        OTHERS.iter().any(|other| end == *other) && !path.ends_with("docs/style.md")
    });
    for path in files {
        for (at, line) in sources::text(&path).lines().enumerate() {
            for phrase in phrases(line) {
                writeln!(found, "{}:{}: {phrase:?}", path.display(), at + 1).unwrap();
            }
        }
    }
    assert!(found.is_empty(), "docs/style.md shows what to write instead:\n{found}");
}

#[test]
fn the_phrases_are_found() {
    assert_eq!(phrases("x is no string"), ["is no string"]);
    assert_eq!(phrases("There is no file; it is no longer there."), Vec::<String>::new());
    assert_eq!(phrases("the log tells whom it is for"), ["tells", "whom"]);
    let source = "/// Whether it is\n/// stale.\nfn f() { g(\"are no rules\"); } // Why?\n/* block */ const C: &CStr = c\"a\";\n\
        const B: [&[u8]; 2] = [b\"b\", br#\"c\"#];\n";
    let kinds: Vec<_> = pieces(source).into_iter().map(|piece| (piece.line, piece.is_comment)).collect();
    assert_eq!(kinds, [(1, true), (3, false), (3, true), (4, true), (4, false), (5, false), (5, false)]);
}
