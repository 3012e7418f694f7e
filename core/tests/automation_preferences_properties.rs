//! The group that decides, against a model that looks at every group and compares the four criteria of AUTO-14 in turn.

use crawlpike_core::internals::RequestHost;
use crawlpike_core::internals::policy::{AccessRequest, PreferencesFile, Undeclared};
use crawlpike_core::internals::{Diagnostics, Load};
use crawlpike_core::internals::{PathPattern, RequestPath};
use proptest::collection::vec;
use proptest::prelude::*;

/// One group; a missing directive is an empty list.
#[derive(Clone, Debug)]
struct Group {
    scopes: Vec<String>,
    hosts: Vec<&'static str>,
    agents: Vec<&'static str>,
}

const HOSTS: [&str; 5] = ["a.example", "b.example", "*.example", "*.a.example", "*"];
const AGENTS: [&str; 3] = ["one", "Two", "*"];

fn group() -> impl Strategy<Value = Group> {
    let scopes = vec("/[ab/*]{0,4}\\$?", 1..4);
    let hosts = vec(proptest::sample::select(&HOSTS), 0..3);
    let agents = vec(proptest::sample::select(&AGENTS), 0..3);
    (scopes, hosts, agents).prop_map(|(scopes, hosts, agents)| Group { scopes, hosts, agents })
}

/// The file, and the line on which each group begins.
fn written(groups: &[Group]) -> (String, Vec<u32>) {
    let (mut text, mut lines) = (String::new(), Vec::new());
    for group in groups {
        lines.push(u32::try_from(text.lines().count() + 1).unwrap());
        for scope in &group.scopes {
            text += &format!("scope: {scope}\n");
        }
        if !group.hosts.is_empty() {
            text += &format!("host: {}\n", group.hosts.join(", "));
        }
        for agent in &group.agents {
            text += &format!("User-Agent: {agent}\n");
        }
        text += "\n";
    }
    (text, lines)
}

/// The place of the group that decides.
fn deciding(groups: &[Group], agent: &str, host: &str, path: &str) -> Option<usize> {
    let key = |(place, group): (usize, &Group)| {
        let any_host = group.hosts.is_empty() || group.hosts.contains(&"*");
        // A host that is named beside `*` takes precedence all the same.
        let exact_host = group.hosts.contains(&host);
        let below = |pattern: &&str| pattern.strip_prefix('*').is_some_and(|parent| host.ends_with(parent));
        let exact_agent = group.agents.iter().any(|own| own.eq_ignore_ascii_case(agent));
        let holds = (any_host || exact_host || group.hosts.iter().any(below))
            && (exact_agent || group.agents.is_empty() || group.agents.contains(&"*"));
        let patterns = group.scopes.iter().map(|scope| PathPattern::new(scope.as_bytes()).unwrap());
        let matching = patterns.filter(|pattern| pattern.matches(RequestPath::new(path.as_bytes())));
        let longest = matching.map(|pattern| pattern.length()).max()?;
        holds.then_some((exact_host, longest, exact_agent, place))
    };
    groups.iter().enumerate().filter_map(key).max().map(|(.., place)| place)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn auto_14_agrees_with_the_model(groups in vec(group(), 0..30), paths in vec("/[ab/]{0,6}", 1..6)) {
        // AUTO-11, AUTO-12, AUTO-13, AUTO-14
        let (text, lines) = written(&groups);
        let mut diagnostics = Diagnostics::new("automation-preferences.txt", Load);
        let preferences = PreferencesFile::parse(text.as_bytes(), &mut diagnostics).unwrap().compile();
        for path in &paths {
            for host in ["a.example", "b.example", "c.example", "x.a.example", "example", "other"] {
                for agent in ["one", "two", "three"] {
                    let request = AccessRequest {
                        agent: preferences.agent(agent),
                        host: RequestHost::new(host.as_bytes()),
                        path: RequestPath::new(path.as_bytes()),
                        method: b"GET",
                    };
                    let verdict = preferences.decide(&request, || [], Undeclared::Deny);
                    let expected = deciding(&groups, agent, host, path).map(|place| lines[place]);
                    prop_assert_eq!(verdict.map(|verdict| verdict.group), expected, "{} {} {}\n{}", agent, host, path, text);
                }
            }
        }
    }
}
