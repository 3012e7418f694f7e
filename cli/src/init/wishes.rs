//! The permitted usage of the pages of a new site: the answer of a person, and robots.txt with it.

use std::io::{self, BufRead, IsTerminal, Write};

use crawlpike_core::UsageStatement;

const QUESTIONS: [(&str, &str); 3] = [
    ("search", "May search engines show your pages, with a link?"),
    ("ai-use", "May AI use your pages for its answers?"),
    ("train-ai", "May AI be trained with your pages?"),
];

/// Asks a person at a terminal; nothing is stated by anybody else.
pub(super) fn ask() -> io::Result<UsageStatement> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Ok(UsageStatement::default());
    }
    let mut output = io::stdout();
    writeln!(output, "What may be done with the pages of your site? y: yes, n: no, Enter: say nothing")?;
    let mut said = Vec::new();
    for (label, question) in QUESTIONS {
        said.extend(answer(question)?.map(|answer| format!("{label}={answer}")));
    }
    said.join(", ").parse().map_err(io::Error::other)
}

/// `y`, `n`, or nothing at the end of the input, too.
fn answer(question: &str) -> io::Result<Option<&'static str>> {
    loop {
        let mut output = io::stdout();
        write!(output, "  {question} [y/n] ")?;
        output.flush()?;
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(Some("y")),
            "n" | "no" => return Ok(Some("n")),
            "" => return Ok(None),
            _ => {}
        }
    }
}

/// A robots.txt that says it in each notation, and allows what nobody says.
pub(super) fn robots_txt(usage: UsageStatement) -> String {
    format!(
        "# What may be done with the pages of this site\nUser-agent: *\nContent-Usage: {usage}\nContent-Signal: {}\nAllow: /\n",
        usage.signals()
    )
}
