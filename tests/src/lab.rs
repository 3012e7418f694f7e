//! The set-up that most tests of servers share: LabBot, whose addresses are known, and clients that say where they
//! come from.

use crate::http::Request;
use crate::nginx::Folder;

/// LabBot comes from 192.0.2.0/24, FreeBot from anywhere.
pub const DOCUMENT: &str = r#"{
  "mode": "enforce",
  "catalog": "none",
  "feeds": [ { "name": "lab", "format": "cidr", "source": "lab.txt" } ],
  "agents": [ { "token": "LabBot", "feeds": ["lab"] }, { "token": "FreeBot" } ]
}"#;

/// A person's browser.
pub const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// The value of `X-Crawlpike` for LabBot from its own address.
pub const VERIFIED: &str = r#"action=allow, identity=verified, agent="LabBot", feed="lab""#;

/// The header from which the gates take the client's address.
pub const ADDRESS_HEADER: &str = "X-Forwarded-For";

/// For nginx: loads the document, and takes the client's address from the header.
pub const HTTP: &str = "
    crawlpike_config crawlpike.json;
    set_real_ip_from 127.0.0.1;
    real_ip_header X-Forwarded-For;
";

/// A folder with the document and its feed.
pub fn lab() -> Folder {
    let folder = Folder::new();
    folder.write("crawlpike.json", DOCUMENT);
    folder.write("lab.txt", "192.0.2.0/24\n2001:db8::/32\n");
    folder
}

/// The same with these elements of the document's `sites`.
pub fn lab_with_sites(sites: &str) -> Folder {
    let folder = lab();
    let sites = format!(r#""sites": [ {sites} ], "catalog""#);
    folder.write("crawlpike.json", DOCUMENT.replace(r#""catalog""#, &sites));
    folder
}

/// The same with one site for all hosts, which has this `robots.txt`.
pub fn lab_with_robots(robots: &str) -> Folder {
    let folder = lab_with_sites(r#"{ "robots_txt": "robots.txt" }"#);
    folder.write("robots.txt", robots);
    folder
}

/// The same with one site for all hosts, which denies clients that cannot be verified, such as those of this machine.
pub fn strict_lab() -> Folder {
    lab_with_sites(r#"{ "unverified": "deny" }"#)
}

/// The document whose feed may change in any way.
pub fn unguarded() -> String {
    DOCUMENT.replace(r#""name": "lab","#, r#""name": "lab", "guard": "off","#)
}

/// LabBot from its own address.
pub fn verified(target: &str) -> Request {
    from("192.0.2.1", Request::get(target).agent("LabBot/1.0"))
}

/// Somebody who says that he is LabBot.
pub fn spoofed(target: &str) -> Request {
    from("203.0.113.9", Request::get(target).agent("LabBot/1.0"))
}

/// A person with a browser.
pub fn person(target: &str) -> Request {
    from("203.0.113.9", Request::get(target).agent(FIREFOX))
}

/// The request of a client with this address.
pub fn from(address: &str, request: Request) -> Request {
    request.header(ADDRESS_HEADER, address)
}
