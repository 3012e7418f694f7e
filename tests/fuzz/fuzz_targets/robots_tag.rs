//! Robots-Tag: each line of the input is a field line. What is written is read back as the same in every syntax, what is
//! read is bounded, and one union says all that its lines say.
#![no_main]

use crawlpike_core::internals::RobotsTagSyntax::{self, Draft00, Draft00Abnf, Structured};
use crawlpike_core::internals::policy::RobotsTag;
use crawlpike_core::lint;
use libfuzzer_sys::fuzz_target;

fn read<'t>(lines: impl IntoIterator<Item = &'t [u8]>) -> RobotsTag<'t> {
    let mut tag = RobotsTag::default();
    for line in lines {
        tag.add_line(line);
    }
    tag
}

fuzz_target!(|bytes: &[u8]| {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let tag = read(lines.iter().copied());
    let write = |tag: &RobotsTag<'_>, syntax: RobotsTagSyntax| tag.write(syntax);
    for syntax in [Draft00, Draft00Abnf, Structured] {
        let once = write(&tag, syntax);
        assert_eq!(once, write(&read([&*once]), syntax), "{syntax}: {}", once.escape_ascii());
        // A token is written again for each further value of a rule.
        assert!(once.len() <= 64 * bytes.len() + 8, "{syntax} grows");
    }
    let once = tag.deployed_lines();
    assert_eq!(once, read(once.iter().map(|line| &**line)).deployed_lines());
    // The deployed syntax states nothing that draft-00 cannot.
    let draft_00 = write(&tag, Draft00);
    let both = read([&*draft_00].into_iter().chain(once.iter().map(|line| &**line)));
    assert_eq!(write(&both, Draft00), draft_00, "{} and {once:?}", draft_00.escape_ascii());
    // Adding a tag to itself changes nothing.
    let mut twice = RobotsTag::default();
    twice.add(&tag);
    twice.add(&tag);
    assert_eq!(write(&twice, Draft00), draft_00);
    for diagnostic in lint::robots_tag("robots-tag", bytes) {
        let Some(position) = diagnostic.position else {
            assert!(diagnostic.message.starts_with("not shown: "), "{diagnostic}");
            continue;
        };
        assert!(position.line as usize <= bytes.len() + 1 && position.column as usize <= bytes.len() + 1);
    }
});
