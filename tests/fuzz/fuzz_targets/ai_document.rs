//! AIDocuments of any version: what is read in version 2.0 stays as it is when it is read again.
#![no_main]

use crawlpike_document::aidocument::{Upgraded, upgrade};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(Upgraded { document, .. }) = upgrade(bytes) else { return };
    let text = serde_json::to_vec(&document).expect("a document");
    assert_eq!(upgrade(&text).expect("a document that was written").document, document);
});
