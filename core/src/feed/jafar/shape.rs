//! The notation for where the prefixes are in a publisher's JSON: `result.ipv4_cidrs[], result.ipv6_cidrs[]`.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde_json::Value;

use crate::json::typed::{FromJson, Node as JsonNode, Reader, of_type};
use crate::source::quoted::Quoted;

/// The places of the prefixes in a publisher's JSON: one or more paths, separated by commas.
///
/// A path has names, separated by dots. `[]` stands for each item of an array and `*` for each key of an object. In
/// `[KEY]`, the member KEY of the item is the service of its prefixes; so is the key that `*` stands for. A path ends at a
/// string, or at an object with a key that the format or a known publisher uses, such as `ipv4Prefix`.
///
/// `html` is a web page that contains the JSON, and `html:` before the paths one whose JSON has a shape of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    text: Box<str>,
    pub(crate) is_page: bool,
    /// `None`: the JSON has the shape of the format.
    pub(super) paths: Option<Node>,
}

/// A value on the way to the prefixes, and how the paths go on from there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// The value is an entry.
    pub(super) is_entry: bool,
    /// Each item of the array.
    pub(super) items: Option<Box<Items>>,
    /// The members of the object that paths name: at most [`MOST_PATHS`].
    pub(super) members: Vec<(Box<str>, Self)>,
    /// Each member of the object.
    pub(super) any: Option<Box<Self>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Items {
    /// The key of an item's service.
    pub(super) service: Option<Box<str>>,
    pub(super) node: Node,
}

const LONGEST: usize = 1000;
const MOST_PATHS: usize = 32;
const MOST_STEPS: usize = 16;

const ENDS_WITHIN: &str = "one path ends where another one goes on";

const PAGE: &str = "html";

impl Shape {
    /// Reads the notation.
    ///
    /// # Errors
    ///
    /// The error in the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("the shape has {} bytes; the limit is {LONGEST}", text.len()));
        }
        let (is_page, paths) = match text.strip_prefix(PAGE) {
            Some("") => return Ok(Self { text: text.into(), is_page: true, paths: None }),
            Some(rest) if rest.starts_with(':') => (true, rest.get(1..).unwrap_or_default()),
            _ => (false, text),
        };
        let mut root = Node::default();
        for (number, path) in paths.split(',').enumerate() {
            let path = path.trim_ascii();
            let added = if number < MOST_PATHS { root.add(path) } else { Err("more than 32 paths") };
            added.map_err(|problem| {
                format!("{}: {problem}; expected a path such as `prefixes[].cidr`", Quoted(path))
            })?;
        }
        Ok(Self { text: text.into(), is_page, paths: Some(root) })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Node {
    /// Returns true if the paths go on in an object.
    pub(super) fn has_members(&self) -> bool {
        !self.members.is_empty() || self.any.is_some()
    }

    fn add(&mut self, path: &str) -> Result<(), &'static str> {
        let mut node = self;
        let mut steps = 0;
        for part in path.split('.') {
            let mut brackets = part.split('[');
            let name = brackets.next().unwrap_or_default();
            if node.is_entry {
                return Err(ENDS_WITHIN);
            }
            node = match name {
                // The document itself is an array.
                "" if steps == 0 && part.starts_with('[') => node,
                "" => return Err("a name is empty"),
                "*" => node.any.get_or_insert_default(),
                _ if name.contains(['*', ']']) => return Err("`*` and `]` cannot be part of a name"),
                _ => node.member(name),
            };
            steps += 1;
            for bracket in brackets {
                node = node.items(bracket.strip_suffix(']').ok_or("`]` is missing")?)?;
                steps += 1;
            }
        }
        if steps > MOST_STEPS {
            return Err("the path has more than 16 steps");
        }
        if node.has_members() || node.items.is_some() {
            return Err(ENDS_WITHIN);
        }
        node.is_entry = true;
        Ok(())
    }

    fn member(&mut self, name: &str) -> &mut Self {
        let known = self.members.iter().position(|(known, _)| **known == *name);
        let place = known.unwrap_or(self.members.len());
        if known.is_none() {
            self.members.push((name.into(), Self::default()));
        }
        // The place is that of a member, so there is one.
        match self.members.get_mut(place) {
            Some((_, node)) => node,
            None => self.any.get_or_insert_default(),
        }
    }

    fn items(&mut self, service: &str) -> Result<&mut Self, &'static str> {
        if self.is_entry {
            return Err(ENDS_WITHIN);
        }
        let is_new = self.items.is_none();
        let items = self.items.get_or_insert_default();
        let service = (!service.is_empty()).then(|| service.into());
        if is_new {
            items.service = service;
        } else if items.service != service {
            return Err("another path has the same array with another service");
        }
        Ok(&mut items.node)
    }
}

impl FromJson for Shape {
    fn from_json<'a>(node: &JsonNode<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        let text = String::from_json(node, reader)?;
        Self::parse(&text).map_err(|problem| node.report(reader, problem)).ok()
    }

    fn to_json(&self) -> Value {
        Value::from(&*self.text)
    }

    fn schema() -> Value {
        of_type("string")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn jafar_20_paths_share_what_they_have_in_common() {
        // JAFAR-20
        let shape = Shape::parse("values[name].properties.v4[], values[name].properties.v6[].cidr").unwrap();
        let root = shape.paths.as_ref().unwrap();
        assert_eq!((shape.is_page, root.members.len(), root.is_entry), (false, 1, false));
        let values = root.members[0].1.items.as_ref().unwrap();
        assert_eq!(values.service.as_deref(), Some("name"));
        assert_eq!(values.node.members[0].1.members.len(), 2);
        assert_eq!(shape.to_string(), "values[name].properties.v4[], values[name].properties.v6[].cidr");
        assert!(Shape::parse("[]").unwrap().paths.unwrap().items.unwrap().node.is_entry);
        assert!(Shape::parse("*[]").unwrap().paths.unwrap().any.is_some());
        assert_eq!(Shape::parse("a[][]"), Shape::parse("a[][]"));
    }

    #[test]
    fn jafar_20_a_page_may_have_json_of_any_shape() {
        // JAFAR-20
        let page = Shape::parse("html").unwrap();
        assert_eq!((page.is_page, page.paths), (true, None));
        let page = Shape::parse("html:items[].cidr").unwrap();
        assert_eq!((page.is_page, page.paths), (true, Shape::parse("items[].cidr").unwrap().paths));
        // A key of this name.
        assert!(!Shape::parse("html.prefixes[]").unwrap().is_page);
        assert!(!Shape::parse("html5[]").unwrap().is_page);
    }

    #[test]
    fn jafar_20_what_is_wrong_with_a_shape_is_said() {
        // JAFAR-20
        for (text, problem) in [
            ("", "\"\": a name is empty"),
            ("html:", "\"\": a name is empty"),
            ("a..b", "\"a..b\": a name is empty"),
            ("a[],", "\"\": a name is empty"),
            (".a", "a name is empty"),
            ("a.[]", "a name is empty"),
            ("a[", "`]` is missing"),
            ("a[]b", "`]` is missing"),
            ("a[],a", "\"a\": one path ends where another one goes on"),
            ("a,a[]", "\"a[]\": one path ends where another one goes on"),
            ("a,a.b", "\"a.b\": one path ends where another one goes on"),
            ("a]", "`*` and `]` cannot be part of a name"),
            ("a*[]", "`*` and `]` cannot be part of a name"),
            ("a[x].b,a[y].c", "\"a[y].c\": another path has the same array with another service"),
        ] {
            let error = Shape::parse(text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
            assert!(error.ends_with("; expected a path such as `prefixes[].cidr`"), "{error}");
        }
        assert!(Shape::parse(&"a.".repeat(16)).unwrap_err().contains("a name is empty"));
        assert!(Shape::parse(&["a"; 16].join(".")).is_ok() && Shape::parse(&"[]".repeat(15)).is_ok());
        assert!(Shape::parse(&["a"; 17].join(".")).unwrap_err().contains("more than 16 steps"));
        assert!(Shape::parse(&"[]".repeat(99)).unwrap_err().contains("more than 16 steps"));
        assert!(Shape::parse(&["a"; 32].join(",")).is_ok());
        assert!(Shape::parse(&["a"; 33].join(",")).unwrap_err().contains("more than 32 paths"));
        assert_eq!(
            Shape::parse(&"a".repeat(1001)).unwrap_err(),
            "the shape has 1001 bytes; the limit is 1000"
        );
    }
}
