//! `crawlpike usage`, and what `crawlpike explain` shows of usage.

use crate::fixture::Folder;

const ROBOTS: &str = "Content-Signal: ai-train=no, use=reference\nUser-agent: *\nDisallow: /private/\n\
                      Content-Usage: search=y # links\nContent-Usage: /press/ train-ai=y\nLicense: https://a.example/l.xml\n\n\
                      User-agent: __usage_train\nDisallow: /\n";

/// USE-6, USE-9, USE-11, USE-12.
#[test]
fn use_6_a_statement_has_its_lines() {
    let folder = Folder::new();
    folder.write("r.txt", ROBOTS);
    folder.run(&["usage", "r.txt", "--path", "/news"]).ends(0).prints_only(
        "train-ai=n, search=y\n\
         group     *\n          r.txt:4: `Content-Usage: search=y`\n          \
         r.txt:1: `Content-Signal: ai-train=no, use=reference`\n\
         licence   r.txt:6: https://a.example/l.xml\n\
         note      search=y allows whatever only serves a search that links to the page, also if the rest is disallowed \
         [USE-12]\n\
         note      r.txt:8: the group of __usage_train is not an agent's, and decides nothing [USE-11]\n",
    );
    let done = folder.run(&["usage", "r.txt", "--path", "/private/a", "--agent", "GPTBot", "--json"]);
    done.ends(0);
    let object: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&object["usage"], &object["allowed"]), (&serde_json::Value::Null, &false.into()));
    assert_eq!(object["group"], "*");
    assert_eq!(object["licenses"][0]["line"], 6);
    folder.write("page.txt", "<html><title>404</title></html>");
    assert_eq!(folder.run(&["usage", "page.txt", "--path", "/"]).ends(2).stdout, "");
}

#[test]
fn an_explanation_shows_where_each_preference_comes_from() {
    let folder = Folder::new();
    folder.write("r.txt", ROBOTS);
    folder.write(
        "u.json",
        "{ \"sites\": [ { \"robots_txt\": \"r.txt\",\n \"usage\": { \"rules\": [\n  { \"preferences\": \"ai-use=n\" } ] } } ] }",
    );
    let done = folder.run(&["explain", "--config", "u.json", "--ip", "192.0.2.1", "--path", "/press/a"]);
    done.ends(0);
    let lines: Vec<&str> = done.stdout.lines().skip_while(|line| !line.starts_with("usage ")).collect();
    assert_eq!(
        lines,
        [
            "usage     train-ai=n, ai-use=n",
            "          r.txt:5: `Content-Usage: /press/ train-ai=y`",
            "          r.txt:1: `Content-Signal: ai-train=no, use=reference`",
            "          u.json:3: ai-use=n",
            "          r.txt:8: the group of __usage_train is not an agent's, and decides nothing [USE-11]",
        ]
    );
}
