//! The preferences in a robots.txt about the usage of a path, for those who write the file.

use alloc::string::String;
use alloc::vec::Vec;

use crate::path::request::RequestTarget;
use crate::policy::lines::Lines;
use crate::policy::robots::RobotsFile;
use crate::policy::usage::{UsageStatement, in_each_spelling};
use crate::source::diagnostic::{Diagnostic, Diagnostics, Load};

/// The answer of a robots.txt about the usage of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUsage {
    /// The token in lower case, or `*`, whose groups are the agent's.
    pub group: String,
    /// True if the agent may fetch the path; otherwise nothing is preferred about it.
    pub is_allowed: bool,
    /// The statement.
    pub statement: UsageStatement,
    /// The lines that say so.
    pub lines: Vec<UsageLine>,
    /// The URLs of licences, each with its line.
    pub licenses: Vec<(String, u32)>,
    /// The tokens of reserved groups, each with the line at which its group begins.
    pub reserved: Vec<(String, u32)>,
}

/// A line of a robots.txt that states something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageLine {
    /// The number of the line.
    pub line: u32,
    /// Its statement.
    pub statement: UsageStatement,
    /// Its text without comment.
    pub text: String,
}

impl FileUsage {
    /// Reads a robots.txt, which `name` names in diagnostics. `None`, with an error, if it is not one.
    ///
    /// ```
    /// use crawlpike_core::FileUsage;
    ///
    /// let text = b"User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /open/ train-ai=y\n";
    /// let (usage, _) = FileUsage::read("robots.txt", text, "ExampleBot", b"/open/a");
    /// assert_eq!(usage.ok_or("refused")?.statement.to_string(), "train-ai=y");
    /// # Ok::<(), &str>(())
    /// ```
    pub fn read(name: &str, text: &[u8], agent: &str, path: &[u8]) -> (Option<Self>, Vec<Diagnostic>) {
        let mut diagnostics = Diagnostics::new(name, Load);
        let file = RobotsFile::parse(text, &mut diagnostics);
        (file.map(|file| Self::of(&file, text, agent, path)), diagnostics.into_items_by_position())
    }

    fn of(file: &RobotsFile, text: &[u8], agent: &str, path: &[u8]) -> Self {
        let robots = file.compile();
        let (group, target) = (robots.group_for(agent), RequestTarget::new(path));
        let shown = |line: u32| {
            let found = Lines::new(text).find(|found| found.number == line);
            found.map(|found| String::from_utf8_lossy(found.content()).into_owned()).unwrap_or_default()
        };
        let mut lines: Vec<UsageLine> = Vec::new();
        let mut is_allowed = true;
        let statement = in_each_spelling(&target, |path| {
            is_allowed &= robots.decide(group, path).allowed;
            robots.tell_usage_lines(group, path, &mut |found| {
                if lines.iter().all(|known| known.line != found.line) {
                    let text = shown(found.line);
                    lines.push(UsageLine { line: found.line, statement: found.statement, text });
                }
            });
            robots.usage(group, path)
        });
        let licenses = robots.licenses().iter().map(|license| (license.url.as_ref().into(), license.line));
        let reserved = robots.reserved_groups().iter().map(|(token, line)| (token.as_ref().into(), *line));
        Self {
            group: robots.token_of(group).unwrap_or("*").into(),
            is_allowed,
            statement,
            lines,
            licenses: licenses.collect(),
            reserved: reserved.collect(),
        }
    }
}
