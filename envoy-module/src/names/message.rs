//! Messages of DNS, as they are sent over HTTPS (RFC 8484).

use std::net::IpAddr;

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordType};

/// The media type of a message.
pub(super) const MEDIA_TYPE: &str = "application/dns-message";

/// No message is longer.
pub(super) const MOST_BYTES: usize = 0xffff;

/// The most aliases that are followed: in a zone that is delegated by address (RFC 2317), a name has one.
const MOST_ALIASES: usize = 8;

/// A question to a resolver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question(Query);

/// The records in a resolver's answer.
#[derive(Debug)]
pub(super) struct Records {
    records: Vec<Record>,
    /// The time that they are valid, in seconds.
    pub(super) life: u32,
}

impl Question {
    /// The names of an address.
    pub(super) fn names_of(address: IpAddr) -> Self {
        Self(Query::query(Name::from(address), RecordType::PTR))
    }

    /// The addresses of a name, of the kind of this one. `None` if it is not a name.
    pub(super) fn addresses_of(name: &str, like: IpAddr) -> Option<Self> {
        let kind = if like.is_ipv4() { RecordType::A } else { RecordType::AAAA };
        // From bytes: what the library reads as text cannot begin with `-`, as a label in DNS can.
        Some(Self(Query::query(Name::from_labels(name.split('.').map(str::as_bytes)).ok()?, kind)))
    }

    /// The message that asks. Its number is 0, so that it can be cached: the connection shows which server answers.
    pub(super) fn message(&self) -> Option<Vec<u8>> {
        let mut message = Message::query();
        message.metadata.id = 0;
        message.metadata.recursion_desired = true;
        message.add_query(self.0.clone());
        message.to_vec().ok()
    }

    /// The records in a message. `None` if it is not an answer to this, or says that there is none at the moment.
    pub(super) fn answer(&self, message: &[u8]) -> Option<Records> {
        let message = Message::from_vec(message).ok()?;
        let about = &message.metadata;
        let is_answer = about.message_type == MessageType::Response
            && about.op_code == OpCode::Query
            && !about.truncation
            && message.queries == [self.0.clone()];
        let is_known = matches!(about.response_code, ResponseCode::NoError | ResponseCode::NXDomain);
        (is_answer && is_known).then(|| self.records(&message))
    }

    /// The records of the name that was asked for, or of the one that its aliases lead to. No other record of the message counts.
    fn records(&self, message: &Message) -> Records {
        let of = |name: &Name| {
            let name = name.clone();
            message
                .answers
                .iter()
                .filter(move |record| record.dns_class == DNSClass::IN && record.name == name)
        };
        let mut name = self.0.name.clone();
        let mut life = u32::MAX;
        for _ in 0..MOST_ALIASES {
            let alias = of(&name).find_map(|record| match &record.data {
                RData::CNAME(target) => Some((target.0.clone(), record.ttl)),
                _ => None,
            });
            let Some((target, ttl)) = alias else { break };
            (name, life) = (target, life.min(ttl));
        }
        let wanted = of(&name).filter(|record| record.record_type() == self.0.query_type);
        let records: Vec<Record> = wanted.cloned().collect();
        let lives = records.iter().map(|record| record.ttl);
        // The record that says that there is nothing also says for how long (RFC 2308, 5).
        let absence = message.authorities.iter().filter_map(|record| match &record.data {
            RData::SOA(soa) => Some(record.ttl.min(soa.minimum)),
            _ => None,
        });
        let own = if records.is_empty() { absence.min() } else { lives.min() };
        let life = life.min(own.unwrap_or_default());
        Records { records, life }
    }
}

impl Records {
    /// The names, in lower case or not, with dots between labels and none at the end. A label with a dot or a byte that is not
    /// ASCII makes it invalid.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.records.iter().filter_map(|record| match &record.data {
            RData::PTR(name) => text(&name.0),
            _ => None,
        })
    }

    pub(super) fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.records.iter().filter_map(|record| match &record.data {
            RData::A(v4) => Some(v4.0.into()),
            RData::AAAA(v6) => Some(v6.0.into()),
            _ => None,
        })
    }
}

fn text(name: &Name) -> Option<String> {
    let labels: Option<Vec<&str>> =
        name.iter().map(|label| str::from_utf8(label).ok().filter(|label| !label.contains('.'))).collect();
    Some(labels?.join("."))
}
