//! Messages of DNS, as the native module of Envoy gets them from a resolver: nothing panics, only an answer to the question
//! counts, and what counts of it is bounded and can be asked for. The first byte of the input selects the question.
#![no_main]

#[path = "../../../envoy-module/src/names/message.rs"]
mod message;

use std::net::IpAddr;

use hickory_proto::op::{Message, MessageType};
use libfuzzer_sys::fuzz_target;
use message::{MEDIA_TYPE, MOST_BYTES, Question};

fuzz_target!(|data: &[u8]| {
    let Some((first, data)) = data.split_first() else { return };
    let v4 = IpAddr::from([192, 0, 2, 1]);
    let v6 = IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]);
    let question = match first % 4 {
        0 => Some(Question::names_of(v4)),
        1 => Some(Question::names_of(v6)),
        2 => Question::addresses_of("a.bot.test", v4),
        _ => Question::addresses_of("a.bot.test", v6),
    };
    let question = question.expect("the names are right");
    let asked = question.message().expect("it can be written");
    assert!(question.answer(&asked).is_none(), "a question is not an answer");
    assert!(data.len() <= MOST_BYTES && MEDIA_TYPE.is_ascii());
    let Some(records) = question.answer(data) else { return };
    let whole = Message::from_vec(data).expect("only what can be read is an answer");
    assert_eq!(whole.metadata.message_type, MessageType::Response);
    let asked = Message::from_vec(&asked).expect("our own message");
    assert_eq!(whole.queries, asked.queries, "it answers another question");
    let mut records_read = whole.answers.iter().chain(&whole.authorities);
    assert!(records.life == 0 || records_read.any(|record| record.ttl >= records.life), "{}", records.life);
    let (names, addresses) = (records.names().count(), records.addresses().count());
    assert!(names + addresses <= whole.answers.len());
    for name in records.names() {
        // A message has names of 255 bytes at most, and escapes nothing here.
        assert!(name.len() <= 255, "{name}");
        let can_be_asked = Question::addresses_of(&name, v4).is_some();
        assert_eq!(can_be_asked, !name.is_empty(), "{name}");
    }
    for address in records.addresses() {
        assert_eq!(address.is_ipv4(), first % 4 == 2, "of another kind than was asked for");
    }
});
