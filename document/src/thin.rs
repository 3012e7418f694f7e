//! Pages of which too little text is left for a document: shells that a script fills, walls, questions to people.

/// The text of a page, in bytes, and the part of it that is in the document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextAmount {
    /// All text of the page but that of scripts and styles, whether people see it or not.
    pub seen: usize,
    /// The text in the document, without its title.
    pub kept: usize,
}

/// A page with a script and less text than this has its content from the script.
const SHELL: usize = 80;
/// A page with a script that speaks of scripts or waiting in no more text than this does, too.
const EXCUSE: usize = 400;
/// A page asks for consent in no more text than this.
const WALL: usize = 1500;
/// Less text than this is little.
const LITTLE: usize = 250;
/// One part in so many of the text is a small part.
const SMALL_SHARE: usize = 20;

/// Returns true if what was kept is implausibly small.
pub(crate) fn is_thin(amount: TextAmount, has_scripts: bool, markdown: &str) -> bool {
    let TextAmount { seen, kept } = amount;
    if kept == 0 || kept < LITTLE && kept < seen / SMALL_SHARE {
        return true;
    }
    if !has_scripts || kept >= WALL {
        return false;
    }
    // Without the title, which may be about anything.
    let body = markdown
        .strip_prefix("# ")
        .map_or(markdown, |rest| rest.split_once('\n').map_or("", |(_, body)| body));
    let body = body.trim().to_lowercase();
    kept < SHELL || kept < EXCUSE && is_excuse(&body) || is_question_of_consent(&body)
}

fn is_excuse(text: &str) -> bool {
    const STARTS: [&str; 5] = ["loading", "please wait", "just a moment", "redirecting", "one moment"];
    const PARTS: [&str; 5] =
        ["javascript", "captcha", "not a robot", "you are human", "checking your browser"];
    STARTS.iter().any(|start| text.starts_with(start)) || PARTS.iter().any(|part| text.contains(part))
}

fn is_question_of_consent(text: &str) -> bool {
    const ANSWERS: [&str; 8] =
        ["accept", "consent", "agree", "akzeptier", "zustimm", "accepter", "aceptar", "accetta"];
    let has_answer = || ANSWERS.iter().any(|answer| text.contains(answer));
    text.matches("cookie").count() >= 2 && has_answer()
}

#[cfg(test)]
mod tests {
    use crate::{Limits, read};

    fn is_thin(page: &str) -> bool {
        read(page.as_bytes(), &Limits::default(), None, None).is_thin()
    }

    #[test]
    fn shells_and_walls_are_thin() {
        let about_cookies = "<p>We and our partners store cookies on your device, to count our readers and to show \
            advertisements that suit them.</p><p>You may accept all cookies, or choose which ones we may use.</p>";
        for page in [
            "",
            "<title>An application</title><div id=root></div><script src=/app.js></script>",
            "<title>Loading tables</title><div>Loading…</div><script>go()</script>",
            "<noscript>You need to enable JavaScript to run this app.</noscript><script src=/app.js></script>",
            "<script></script><p>This site needs JavaScript, which your browser does not run. Please turn it on, and load this \
             page once more, or write to us if that does not help you.",
            &format!("<script src=/c.js></script><h1>Before you go on</h1>{about_cookies}"),
            &format!("<p>Short.<div hidden>{}</div>", "Text that nobody sees. ".repeat(100)),
        ] {
            assert!(is_thin(page), "{page}");
        }
    }

    #[test]
    fn short_pages_are_not() {
        let article = "<p>The ferry leaves from the old quay at seven, and it comes back at noon, whatever the weather is.";
        for page in [
            "<p>Closed today.",
            &format!("<script src=/count.js></script>{article}"),
            &format!("<h1>Loading docks</h1><script src=/count.js></script>{article}"),
            &format!(
                "<p>Our cookies are baked with butter, and you should accept no cookies without.{article}"
            ),
        ] {
            assert!(!is_thin(page), "{page}");
        }
    }
}
