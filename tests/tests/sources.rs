//! Checks of all sources: the project's name and the order of its modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crawlpike_tests::artefacts::repository;
use crawlpike_tests::sources;

/// The crates whose top-level modules are in layers.
const LAYERED: [&str; 9] = [
    "cli/report/src",
    "cli/src",
    "core/src",
    "document/src",
    "envoy-filter/host/src",
    "envoy-filter/policy/src",
    "gate/envoy/src",
    "gate/files/src",
    "gate/page/src",
];

#[test]
fn the_name_of_before_the_first_release_is_in_the_changelog_only() {
    let old = ["crawl", "ward"].concat();
    let mut found = Vec::new();
    for path in sources::files(".") {
        let bytes = fs::read(repository().join(&path)).unwrap();
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        let name = path.to_string_lossy().to_lowercase();
        if name != "changelog.md" && (name.contains(&old) || text.contains(&old)) {
            found.push(path);
        }
    }
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn modules_at_the_top_of_a_crate_import_in_one_direction() {
    for source in LAYERED {
        if let Some(circle) = circle(&imports(source)) {
            panic!("{source}: circle of imports:\n{}", circle.join("\n"));
        }
    }
}

#[test]
fn paths_of_imports_are_found() {
    let text = "use crate::{a::x, b::{y, z}, C};\nfn f() { crate::d::g(); } // crate::no\n/// [`crate::no`]\n\
        #[cfg(test)]\nmod tests { use crate::no; }";
    assert_eq!(imported(text), ["a", "b", "C", "d"]);
    let edges = |list: &[(&str, &str)]| {
        let mut graph = Imports::new();
        for (from, to) in list {
            graph.entry((*from).into()).or_default().insert((*to).into(), format!("{from}.rs"));
        }
        graph
    };
    assert_eq!(circle(&edges(&[("a", "b"), ("a", "c"), ("b", "c")])), None);
    let found = circle(&edges(&[("a", "b"), ("b", "c"), ("c", "b")])).unwrap();
    assert_eq!(found, ["b imports c in b.rs", "c imports b in c.rs"]);
}

/// For each top-level module, the modules that it imports, each with a file that does.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

/// The imports between the top-level modules of a crate. A name that the crate root exports counts as its module.
fn imports(source: &str) -> Imports {
    let root = |name| repository().join(source).join(name);
    let root = fs::read_to_string(root("lib.rs")).or_else(|_| fs::read_to_string(root("main.rs")));
    let exported = exports(&root.expect("a crate root"));
    let mut imports = Imports::new();
    for path in sources::files_with(source, "rs") {
        let within = path.strip_prefix(source).unwrap().with_extension("");
        let parts: Vec<_> = within.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let is_test =
            parts.iter().any(|part| part == "tests" || part.ends_with("_tests") || part == "properties");
        if is_test || parts == ["lib"] || parts == ["main"] {
            continue;
        }
        for name in imported(&sources::text(&path)) {
            let module = exported.get(&name).unwrap_or(&name);
            if *module != parts[0] {
                let edges = imports.entry(parts[0].clone()).or_default();
                edges.entry(module.clone()).or_insert_with(|| path.display().to_string());
            }
        }
    }
    imports
}

/// The names that `pub use` at the crate root exports, each with its top-level module.
fn exports(root: &str) -> BTreeMap<String, String> {
    let mut exported = BTreeMap::new();
    for statement in root.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next()) {
        let mut names = statement.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let module = names.next().unwrap_or_default();
        for name in names.filter(|name| !name.is_empty()) {
            exported.insert(name.to_owned(), module.to_owned());
        }
    }
    exported
}

/// The names behind `crate::` in the code of a file, without its comments and its unit tests.
fn imported(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let code = code.find("#[cfg(test)]\nmod tests {").map_or(&*code, |tests| &code[..tests]);
    let mut names = Vec::new();
    for behind in code.split("crate::").skip(1) {
        let Some(list) = behind.strip_prefix('{') else {
            names.extend(first_name(behind));
            continue;
        };
        let mut depth = 1;
        let is_inside = |letter: &char| {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth > 0
        };
        let list: String = list.chars().take_while(is_inside).collect();
        let mut depth = 0;
        let items = list.split(|letter| {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            letter == ',' && depth == 0
        });
        names.extend(items.filter_map(|item| first_name(item.trim())));
    }
    names
}

fn first_name(path: &str) -> Option<String> {
    let name: String = path.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
    Some(name).filter(|name| !name.is_empty())
}

/// A circle of imports, a line for each step. `None` if there is none.
fn circle(imports: &Imports) -> Option<Vec<String>> {
    // A module whose imports are all free of circles is free of them, too.
    let mut free = BTreeSet::new();
    imports.keys().find_map(|module| circle_from(imports, &mut vec![module], &mut free))
}

fn circle_from<'i>(
    imports: &'i Imports,
    way: &mut Vec<&'i str>,
    free: &mut BTreeSet<&'i str>,
) -> Option<Vec<String>> {
    let module = *way.last()?;
    for next in imports.get(module).into_iter().flat_map(BTreeMap::keys) {
        if let Some(start) = way.iter().position(|passed| passed == next) {
            way.push(next);
            let steps = way[start..].windows(2).map(|step| (step[0], step[1]));
            return Some(
                steps.map(|(from, to)| format!("{from} imports {to} in {}", imports[from][to])).collect(),
            );
        }
        if !free.contains(next.as_str()) {
            way.push(next);
            let found = circle_from(imports, way, free);
            if found.is_some() {
                return found;
            }
            way.pop();
        }
    }
    free.insert(module);
    None
}
