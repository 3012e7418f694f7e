//! The settings of a site for AIWebIndex: the proof of who owns its domain, and the documents of its pages.

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use crate::json::typed::{FromJson, Node, Reader, json_object};
use crate::source::position::Placed;

json_object! {
    /// The settings of a site for AIWebIndex and other agents.
    pub struct AiwebindexConfig {
        /// The tokens that prove who owns the domain, as their issuers gave them; served at
        /// `/.well-known/aiwebindex-verify.txt`.
        pub verification_tokens: Vec<Placed<String>> = { Vec::new() },
        /// True if clients that ask for it get a page as markdown or as an AIDocument: `true`, or an object with
        /// options.
        pub document: DocumentSetting = { DocumentSetting::default() },
    }
}

json_object! {
    /// The way in which a site sends documents.
    pub struct DocumentConfig {
        /// True if a page is served as markdown at its path with `.md` added, too (`index.md` after a slash).
        pub md_paths: bool = { false },
    }
}

/// The site's settings for documents; `None`: it sends none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentSetting(pub Option<DocumentConfig>);

impl FromJson for DocumentSetting {
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        if node.is_object() {
            return DocumentConfig::from_json(node, reader).map(|config| Self(Some(config)));
        }
        let is_on: bool = node.parse(reader, "true, false or an object")?;
        Some(Self(is_on.then_some(DocumentConfig { md_paths: false })))
    }

    fn to_json(&self) -> Value {
        self.0.as_ref().map_or_else(|| Value::from(false), DocumentConfig::to_json)
    }

    fn schema() -> Value {
        serde_json::json!({ "oneOf": [DocumentConfig::schema(), { "type": "boolean" }] })
    }
}

/// The reason why a text cannot be a verification token; `None`: it can.
pub(crate) fn objection_to_token(token: &str) -> Option<&'static str> {
    const LONGEST: usize = 256;
    if token.is_empty() {
        Some("it is empty")
    } else if token.len() > LONGEST {
        Some("it is longer than 256 characters")
    } else if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        Some("it may have visible ASCII characters only, and no space")
    } else if token.starts_with("aiwi-verify=") {
        Some("leave out `aiwi-verify=`, which is added where it is served")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::source::diagnostic::{Diagnostics, Load};
    use alloc::format;
    use alloc::string::ToString;

    fn read(document: &str) -> Result<DocumentSetting, Vec<String>> {
        let document = format!(r#"{{ "sites": [ {{ "aiwebindex": {{ "document": {document} }} }} ] }}"#);
        let mut diagnostics = Diagnostics::new("c", Load);
        let config = Config::read(document.as_bytes(), &mut diagnostics);
        let messages: Vec<String> = diagnostics.into_items().iter().map(ToString::to_string).collect();
        if messages.is_empty() {
            Ok(config.unwrap().sites[0].aiwebindex.clone().unwrap().document)
        } else {
            Err(messages)
        }
    }

    #[test]
    fn documents_are_off_unless_the_site_says_otherwise() {
        let on = |md_paths| Ok(DocumentSetting(Some(DocumentConfig { md_paths })));
        assert_eq!(read("false"), Ok(DocumentSetting(None)));
        assert_eq!(read("true"), on(false));
        assert_eq!(read("{}"), on(false));
        assert_eq!(read(r#"{ "md_paths": true }"#), on(true));
        let [wrong] = &read(r#""yes""#).unwrap_err()[..] else { panic!("one message") };
        assert!(
            wrong.ends_with(
                "`sites[0].aiwebindex.document`: expected true, false or an object, found a string"
            )
        );
        let [unknown] = &read(r#"{ "md_path": true }"#).unwrap_err()[..] else { panic!("one message") };
        assert!(unknown.ends_with("(did you mean `md_paths`?)"), "{unknown}");
    }

    #[test]
    fn a_token_is_one_word() {
        assert_eq!(objection_to_token("8a93c5f24b1e7d0c3f9a8b2e6d4c1f0e"), None);
        assert_eq!(objection_to_token("a_b-C+/="), None);
        for token in ["", "a b", "a\nb", "ż", "aiwi-verify=8a93", &"x".repeat(257)] {
            assert!(objection_to_token(token).is_some(), "{token}");
        }
    }
}
