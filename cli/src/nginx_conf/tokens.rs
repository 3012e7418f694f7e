//! The words of nginx.conf, with the lines where they begin.

/// A part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    /// `;`
    End,
    /// `{`
    Open,
    /// `}`
    Close,
}

/// Reads the text of one file.
pub(super) struct Tokens<'a> {
    rest: &'a str,
    /// From 1.
    line: u32,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1 }
    }

    /// The line of the next token.
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    fn take(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let character = characters.next()?;
        self.rest = characters.as_str();
        self.line += u32::from(character == '\n');
        Some(character)
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Skips white space and comments.
    pub(super) fn skip_space(&mut self) {
        while let Some(character) = self.peek() {
            match character {
                '#' => while self.take().is_some_and(|character| character != '\n') {},
                _ if character.is_ascii_whitespace() => _ = self.take(),
                _ => return,
            }
        }
    }

    /// Skips the rest of a block in another language, whose `{` has been read: up to the brace that closes it.
    pub(super) fn skip_block(&mut self) {
        let mut depth = 1;
        while let Some(character) = self.take() {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        self.skip_space();
        match self.peek()? {
            ';' => self.take().map(|_| Token::End),
            '{' => self.take().map(|_| Token::Open),
            '}' => self.take().map(|_| Token::Close),
            quote @ ('"' | '\'') => {
                self.take();
                Some(Token::Word(self.quoted(quote)))
            }
            _ => Some(Token::Word(self.word())),
        }
    }

    fn quoted(&mut self, quote: char) -> String {
        let mut word = String::new();
        while let Some(character) = self.take().filter(|character| *character != quote) {
            word.push(match character {
                '\\' => self.escaped(),
                _ => character,
            });
        }
        word
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(character) = self.peek() {
            match character {
                ';' | '{' if !(character == '{' && word.ends_with('$')) => break,
                _ if character.is_ascii_whitespace() => break,
                _ => {}
            }
            self.take();
            let is_name = character == '{';
            word.push(if character == '\\' { self.escaped() } else { character });
            // The braces of a variable's name, as in `${host}`.
            while is_name && !word.ends_with('}') {
                let Some(character) = self.take() else { break };
                word.push(character);
            }
        }
        word
    }

    fn escaped(&mut self) -> char {
        match self.take() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some(character) => character,
            None => '\\',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_nginx() {
        let mut tokens = Tokens::new("a 'b ;c' \"d\\\"e\"; # no { }\nf${g}h{ i\\;j }");
        let mut found = Vec::new();
        while let Some(token) = tokens.next() {
            found.push(match token {
                Token::Word(word) => word,
                Token::End => "END".into(),
                Token::Open => "OPEN".into(),
                Token::Close => "CLOSE".into(),
            });
        }
        assert_eq!(found, ["a", "b ;c", "d\"e", "END", "f${g}h", "OPEN", "i;j", "CLOSE"]);
        assert_eq!(tokens.line(), 2);
    }
}
