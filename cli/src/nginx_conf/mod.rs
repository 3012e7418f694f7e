//! nginx.conf and the files that it includes, read as text: what a server does is not known without it, and the server need
//! not be installed here, nor start, for it to be read.

mod tokens;

use std::path::{Path, PathBuf};

use self::tokens::{Token, Tokens};

/// The places where packages and builds of nginx have their configuration.
const USUAL: [&str; 2] = ["/etc/nginx/nginx.conf", "/usr/local/nginx/conf/nginx.conf"];

/// The greatest depth to which files include each other, and blocks are in blocks.
const DEEPEST: usize = 32;

/// The most directives that are read: a file that includes itself has an end.
const MOST: usize = 200_000;

/// A directive with its place.
#[derive(Clone, Debug)]
pub(crate) struct Directive {
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
    file: PathBuf,
    line: u32,
    /// Those in its block.
    block: Vec<Directive>,
}

impl Directive {
    /// The first argument.
    pub(crate) fn argument(&self) -> &str {
        self.arguments.first().map_or("", String::as_str)
    }

    /// `FILE:LINE`
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.file.display(), self.line)
    }
}

/// A configuration of nginx.
#[derive(Clone, Debug)]
pub(crate) struct NginxConf {
    pub(crate) path: PathBuf,
    directives: Vec<Directive>,
    /// The files that cannot be read, with the reasons.
    pub(crate) unreadable: Vec<String>,
}

impl NginxConf {
    /// The configuration at the usual places, if there is one that can be read.
    pub(crate) fn usual() -> Option<Self> {
        let path = USUAL.iter().map(Path::new).find(|path| path.exists())?;
        Some(Self::read(path)).filter(|conf| !conf.directives.is_empty())
    }

    /// Reads a configuration. What cannot be read is noted.
    pub(crate) fn read(path: &Path) -> Self {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let mut reader = Reader { folder, unreadable: Vec::new(), count: 0 };
        let directives = reader.file(path, 0);
        Self { path: path.to_path_buf(), directives, unreadable: reader.unreadable }
    }

    /// All directives of a name, in whatever block.
    pub(crate) fn all(&self, name: &str) -> Vec<&Directive> {
        let mut found = Vec::new();
        collect(&self.directives, name, &mut found);
        found
    }

    /// All directives of a name within the blocks of another one.
    pub(crate) fn all_within(&self, block: &str, name: &str) -> Vec<&Directive> {
        let mut found = Vec::new();
        for block in self.all(block) {
            collect(&block.block, name, &mut found);
        }
        found
    }

    /// The first directive of a name.
    pub(crate) fn first(&self, name: &str) -> Option<&Directive> {
        self.all(name).first().copied()
    }

    /// The document that `crawlpike_config` names.
    pub(crate) fn crawlpike_config(&self) -> Option<PathBuf> {
        Some(self.folder().join(self.first("crawlpike_config")?.argument()))
    }

    /// The user of the workers, and the group that is named instead of the user's own. Without the directive, the user is the one with
    /// which nginx was built, and mostly this one.
    pub(crate) fn user(&self) -> (&str, Option<&str>) {
        let Some(user) = self.first("user") else { return ("nobody", None) };
        (user.argument(), user.arguments.get(1).map(String::as_str))
    }

    /// Returns true if workers read changed files themselves.
    pub(crate) fn refreshes(&self) -> bool {
        self.first("crawlpike_refresh").is_some_and(|refresh| !["off", "0"].contains(&refresh.argument()))
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

fn collect<'d>(directives: &'d [Directive], name: &str, found: &mut Vec<&'d Directive>) {
    for directive in directives {
        if directive.name == name {
            found.push(directive);
        }
        collect(&directive.block, name, found);
    }
}

struct Reader {
    /// The folder to which names of included files are relative.
    folder: PathBuf,
    unreadable: Vec<String>,
    count: usize,
}

impl Reader {
    fn file(&mut self, path: &Path, depth: usize) -> Vec<Directive> {
        match crawlpike_files::read_file(path) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                self.block(&mut Tokens::new(&text), path, depth)
            }
            Err(error) => {
                self.unreadable.push(format!("{}: {error}", path.display()));
                Vec::new()
            }
        }
    }

    /// The directives up to the end of a block or of the file.
    fn block(&mut self, tokens: &mut Tokens<'_>, file: &Path, depth: usize) -> Vec<Directive> {
        let mut directives = Vec::new();
        loop {
            tokens.skip_space();
            let line = tokens.line();
            let mut words = Vec::new();
            let end = loop {
                match tokens.next() {
                    Some(Token::Word(word)) => words.push(word),
                    end => break end,
                }
            };
            self.count += 1;
            let is_too_much = depth > DEEPEST || self.count > MOST;
            if words.is_empty() {
                match end {
                    Some(Token::End) if !is_too_much => continue,
                    _ => return directives,
                }
            }
            let name = words.remove(0);
            let mut block = Vec::new();
            if end == Some(Token::Open) {
                match name.ends_with("_by_lua_block") {
                    true => tokens.skip_block(),
                    false => block = self.block(tokens, file, depth + 1),
                }
            }
            if is_too_much {
                return directives;
            }
            if name == "include" && !words.is_empty() {
                directives.extend(self.included(&words[0], depth));
                continue;
            }
            directives.push(Directive { name, arguments: words, file: file.to_path_buf(), line, block });
        }
    }

    /// The directives of the files that a pattern names.
    fn included(&mut self, pattern: &str, depth: usize) -> Vec<Directive> {
        let whole = self.folder.join(pattern);
        let paths: Vec<PathBuf> = match pattern.contains(['*', '?', '[']) {
            // Hidden files are left out, as by nginx.
            true => {
                let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
                let found = glob::glob_with(&whole.to_string_lossy(), options);
                found.into_iter().flatten().flatten().collect()
            }
            false => vec![whole],
        };
        paths.iter().flat_map(|path| self.file(path, depth + 1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn included_files_are_read_and_other_languages_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        fs::create_dir(folder.path().join("conf.d")).unwrap();
        write(
            "nginx.conf",
            "user www-data;\nhttp {\n  content_by_lua_block { if x then { user = 'no' } end }\n  include conf.d/*.conf;\n  \
             include missing.conf;\n}\n",
        );
        write("conf.d/a.conf", "crawlpike_config a/crawlpike.json;\nserver { listen 8080; }\n");
        write("conf.d/.hidden.conf", "crawlpike_config hidden;");
        // Includes itself.
        write("conf.d/b.conf", "include conf.d/b.conf;\ncrawlpike_refresh 60s;\n");
        let conf = NginxConf::read(&folder.path().join("nginx.conf"));
        assert_eq!(conf.user(), ("www-data", None));
        assert_eq!(conf.crawlpike_config(), Some(folder.path().join("a/crawlpike.json")));
        assert!(conf.refreshes());
        let listen = conf.all_within("http", "listen");
        assert_eq!((listen.len(), listen[0].argument()), (1, "8080"));
        assert!(listen[0].place().ends_with("conf.d/a.conf:2"));
        assert!(
            matches!(&conf.unreadable[..], [one] if one.contains("missing.conf: ")),
            "{:?}",
            conf.unreadable
        );
    }
}
