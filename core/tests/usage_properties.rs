//! Usage preferences: what the crate reads is what a straightforward model of the drafts reads.

#[path = "model/usage.rs"]
mod model;

use crawlpike_core::FileUsage;

/// A generator of numbers: the same files each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// Some of these, one after the other.
    fn some(&mut self, most: usize, of: &[&str]) -> String {
        (0..self.below(most + 1)).map(|_| self.one(of)).collect()
    }

    /// A path that a server takes for no other one.
    fn path(&mut self) -> String {
        let path = format!("/{}", self.some(4, &["a", "b", "/", "ab"]));
        let path = path.replace("////", "/").replace("//", "/");
        path.replace("//", "/")
    }

    fn pattern(&mut self) -> String {
        let end = self.one(&["", "", "", "$", "*"]);
        format!("/{}{end}", self.some(4, &["a", "b", "/", "ab", "*"]))
    }

    fn preferences(&mut self) -> String {
        let keys = ["train-ai", "train-ai", "ai-use", "search", "search", "Search", "foo", "tdm", "*", ""];
        let values = [
            "=y",
            "=n",
            "=n",
            "=y",
            "",
            "=?1",
            "=N",
            "=\"n\"",
            "=(n y)",
            "=()",
            "=@12",
            "=1.5",
            "=-7",
            "=n;p",
            "=y;p=\"\\\"\"",
            "=n; q=?0;r",
            "=yes",
            "=",
            "=(n",
            "=@1.5",
            "=1.2345",
            "=*n",
            "=n/y",
        ];
        let between = [", ", ",", "\t,\t", ", ", " ", ",,", "; "];
        let mut text = String::new();
        for place in 0..self.below(4) {
            text += if place > 0 { self.one(&between) } else { "" };
            text += self.one(&keys);
            text += self.one(&values);
        }
        text + self.one(&["", "", "", "", ",", "="])
    }

    fn signals(&mut self) -> String {
        let parts = [
            "ai-train=no",
            "ai-train=yes",
            "search=yes",
            "search=no",
            "ai-input=no",
            " ai-input = yes ",
            "use=reference",
            "ai-train",
            "AI-train=no",
            "search=maybe",
            "",
        ];
        let separator = self.one(&[",", ", ", ";"]);
        (0..self.below(4)).map(|_| self.one(&parts).to_owned() + separator).collect()
    }

    fn line(&mut self) -> String {
        let line = match self.below(12) {
            0 | 1 => format!("User-agent: {}", self.one(&["a", "A", "b", "*", "__usage_a", "__USAGE_b"])),
            2 => format!("Allow: {}", self.pattern()),
            3 => format!("Disallow: {}", self.pattern()),
            4 => format!("Content-Signal: {}", self.signals()),
            5 => format!("Content-Usage: {}", self.preferences()),
            6 => format!("Content-Usage: {}", self.pattern()),
            7 => self
                .one(&["", "# x", "Sitemap: https://a.example/", "Disallow:", "License: /x", "nonsense"])
                .to_owned(),
            _ => {
                let name =
                    self.one(&["Content-Usage:", "content-usage :\t", " CONTENT-USAGE: ", "Content-Usage:"]);
                let blank = self.one(&[" ", "\t", "  "]);
                format!("{name}{}{blank}{}", self.pattern(), self.preferences())
            }
        };
        line + self.one(&["\n", "\n", "\n", "\r\n", "\r", " # search=n\n"])
    }
}

/// USE-1 to USE-7, USE-9, USE-11: 20,000 files, of which most say something.
#[test]
fn use_1_to_use_11_agree_with_the_model() {
    let mut random = Random(0x5eed_1234_9651_0001);
    let mut stating = 0;
    for number in 0..20_000 {
        let lines = random.below(14);
        let start = random.one(&["User-agent: *\n", "User-agent: a\n", "User-agent: *\nUser-agent: a\n", ""]);
        let text: String = start.to_owned() + &(0..lines).map(|_| random.line()).collect::<String>();
        let path = random.path();
        for agent in ["a", "B", "__usage_a"] {
            let expected = model::usage(&text, agent, &path);
            let (usage, _) = FileUsage::read("robots.txt", text.as_bytes(), agent, path.as_bytes());
            let found = usage.map(|usage| usage.statement.text().unwrap_or_default()).unwrap_or_default();
            let words = ["train-ai", "ai-use", "search"].into_iter().zip(expected);
            let words =
                words.filter_map(|(label, said)| Some(format!("{label}={}", if said? { "y" } else { "n" })));
            let expected = words.collect::<Vec<_>>().join(", ");
            assert_eq!(found, expected, "file {number}, {agent} at {path}:\n{text}");
            stating += usize::from(!expected.is_empty());
        }
    }
    assert!(stating > 5_000, "only {stating} answers state anything");
}
