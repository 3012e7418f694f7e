//! Rulesets in their compiled form.

use crawlpike_core::{Compiled, is_stored};

use crate::fixture::{DOCUMENT, MODIFIED, Memory, asked_at, said};

#[test]
fn the_compiled_form_decides_as_the_documents_do() {
    let mut memory = Memory::new();
    let compiled = memory.load();
    let words = compiled.store().unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    assert!(is_stored(&bytes) && !is_stored(DOCUMENT.as_bytes()));
    let loaded = Compiled::load("c.bin", words);
    assert_eq!(said(&loaded), "");
    let (documents, stored) = (compiled.ruleset.unwrap(), loaded.ruleset.unwrap());
    for second in 0..4 {
        for third in [0, 39, 40, 49, 50] {
            for user_agent in
                ["ABot/1.0", "BBot", "curl/8", "Mozilla/5.0 (X11; Linux) Gecko/20100101 Firefox/140.0"]
            {
                let address = format!("11.{second}.{third}.7");
                let decision = asked_at(&documents, &address, user_agent, MODIFIED);
                assert_eq!(
                    asked_at(&stored, &address, user_agent, MODIFIED),
                    decision,
                    "{address} {user_agent}"
                );
            }
        }
    }
}

#[test]
fn a_cut_or_altered_compiled_form_is_refused() {
    let words = Memory::new().load().store().unwrap();
    for length in 0..words.len() {
        let loaded = Compiled::load("c.bin", words[..length].to_vec());
        assert!(loaded.ruleset.is_none(), "{length} words");
    }
    for (at, bit) in (0..words.len()).flat_map(|at| [(at, at % 32), (at, 31)]) {
        let mut altered = words.clone();
        altered[at] ^= 1 << bit;
        let loaded = Compiled::load("c.bin", altered);
        assert!(loaded.ruleset.is_none(), "bit {bit} of word {at}");
    }
    // The length of what stands before the table, with some of the padding behind it and without some of its end.
    for length in words[3] - 4..=words[3] + 4 {
        let mut altered = words.clone();
        altered[3] = length;
        assert_eq!(Compiled::load("c.bin", altered).ruleset.is_some(), length == words[3], "{length}");
    }
    let mut longer = words.clone();
    longer.push(0);
    assert_eq!(
        said(&Compiled::load("c.bin", longer)),
        "c.bin: error: the compiled ruleset is cut short or has bytes added\n"
    );
    let mut newer = words;
    newer[1] = 99;
    assert_eq!(
        said(&Compiled::load("c.bin", newer)),
        "c.bin: error: a compiled ruleset of format 99, not 5: compile it with this version\n"
    );
}
