//! The set-up that most tests share: LabBot, whose addresses are known, and clients that say where they come from.

use crawlward_tests::http::Request;
use crawlward_tests::nginx::Folder;

/// LabBot comes from 192.0.2.0/24, FreeBot from anywhere.
pub(crate) const DOCUMENT: &str = r#"{
  "mode": "enforce",
  "catalog": "none",
  "feeds": [ { "name": "lab", "format": "cidr", "source": "lab.txt" } ],
  "agents": [ { "token": "LabBot", "feeds": ["lab"] }, { "token": "FreeBot" } ]
}"#;

pub(crate) const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// What `X-Crawlward` says of LabBot from its own address.
pub(crate) const VERIFIED: &str = r#"action=allow, identity=verified, agent="LabBot", feed="lab""#;

/// Loads the document, and takes the client's address from a header.
pub(crate) const HTTP: &str = "
    crawlward_config crawlward.json;
    set_real_ip_from 127.0.0.1;
    real_ip_header X-Client;
";

/// A folder with the document and its feed.
pub(crate) fn lab() -> Folder {
    let folder = Folder::new();
    folder.write("crawlward.json", DOCUMENT);
    folder.write("lab.txt", "192.0.2.0/24\n2001:db8::/32\n");
    folder
}

/// LabBot from its own address.
pub(crate) fn verified(target: &str) -> Request {
    from("192.0.2.1", Request::get(target).agent("LabBot/1.0"))
}

/// Somebody who says that he is LabBot.
pub(crate) fn spoofed(target: &str) -> Request {
    from("203.0.113.9", Request::get(target).agent("LabBot/1.0"))
}

/// A person with a browser.
pub(crate) fn person(target: &str) -> Request {
    from("203.0.113.9", Request::get(target).agent(FIREFOX))
}

/// The request of a client with this address.
pub(crate) fn from(address: &str, request: Request) -> Request {
    request.header("X-Client", address)
}
