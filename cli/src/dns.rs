//! Questions to DNS resolvers, each asked by itself, because their answers may differ.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use hickory_proto::op::{Edns, Message, MessageType, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};

use crate::random;

/// The largest answer over UDP: it passes every network in one piece.
const PAYLOAD: u16 = 1232;

/// The number of times that a question is sent over UDP, which loses some.
const TRIES: u32 = 3;

/// The port of resolvers, if no other is given.
pub(crate) const PORT: u16 = 53;

/// Reads the address of a resolver, with or without a port.
pub(crate) fn resolver(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse().map(|address: IpAddr| SocketAddr::new(address, PORT));
    address
        .or_else(|_| text.parse())
        .map_err(|_| "expected an address such as 192.0.2.53 or [2001:db8::53]:53".into())
}

/// The TXT records of a name.
///
/// # Errors
///
/// The reason why the resolver has no answer.
pub(crate) fn txt(resolver: SocketAddr, name: &Name, patience: Duration) -> Result<Vec<String>, String> {
    let records = records(resolver, name, RecordType::TXT, patience)?;
    let texts = records.iter().filter_map(|record| match record {
        RData::TXT(txt) => Some(String::from_utf8_lossy(&txt.txt_data.concat()).into_owned()),
        _ => None,
    });
    Ok(texts.collect())
}

/// The records of a name. An alias comes with the records of the name that it leads to.
///
/// # Errors
///
/// The reason why the resolver has no answer.
pub(crate) fn records(
    resolver: SocketAddr,
    name: &Name,
    kind: RecordType,
    patience: Duration,
) -> Result<Vec<RData>, String> {
    let mut query = Message::query();
    query.metadata.id = u16::from_be_bytes(random::bytes()?);
    query.metadata.recursion_desired = true;
    query.add_query(Query::query(name.clone(), kind));
    let mut edns = Edns::new();
    edns.set_max_payload(PAYLOAD);
    query.set_edns(edns);
    let question = query.to_vec().map_err(|error| error.to_string())?;
    let is_answer = |answer: &Message| {
        answer.metadata.id == query.metadata.id
            && answer.metadata.message_type == MessageType::Response
            && answer.queries == query.queries
    };
    let answer = match over_udp(resolver, &question, patience, &is_answer) {
        Ok(answer) if answer.metadata.truncation => over_tcp(resolver, &question, patience),
        answer => answer,
    };
    let answer = answer.map_err(|error| why(&error, patience))?;
    if !is_answer(&answer) {
        return Err("the answer is to another question".into());
    }
    match answer.metadata.response_code {
        ResponseCode::NoError => Ok(answer.answers.into_iter().map(|record| record.data).collect()),
        ResponseCode::NXDomain => Ok(Vec::new()),
        code => Err(format!("the resolver answers {code}")),
    }
}

fn over_udp(
    resolver: SocketAddr,
    question: &[u8],
    patience: Duration,
    is_answer: &dyn Fn(&Message) -> bool,
) -> io::Result<Message> {
    let own = match resolver {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let socket = UdpSocket::bind(own)?;
    // Then nobody else's packets come in.
    socket.connect(resolver)?;
    let mut buffer = [0; 4096];
    for _ in 0..TRIES {
        socket.send(question)?;
        let deadline = Instant::now() + patience / TRIES;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            socket.set_read_timeout(Some(left))?;
            let length = match socket.recv(&mut buffer) {
                Ok(length) => length,
                Err(error) if is_timeout(&error) => break,
                Err(error) => return Err(error),
            };
            // Something else is somebody who guesses.
            let answer = Message::from_vec(buffer.get(..length).unwrap_or_default());
            if let Ok(answer) = answer
                && is_answer(&answer)
            {
                return Ok(answer);
            }
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

fn over_tcp(resolver: SocketAddr, question: &[u8], patience: Duration) -> io::Result<Message> {
    let mut stream = TcpStream::connect_timeout(&resolver, patience)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    let length = u16::try_from(question.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), question].concat())?;
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut answer = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut answer)?;
    Message::from_vec(&answer).map_err(io::Error::other)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn why(error: &io::Error, patience: Duration) -> String {
    match error {
        _ if is_timeout(error) => format!("no answer within {} s", patience.as_secs_f64()),
        _ => format!("no answer: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolver_is_an_address_with_or_without_a_port() {
        assert_eq!(resolver("192.0.2.53").unwrap().to_string(), "192.0.2.53:53");
        assert_eq!(resolver("[2001:db8::53]:5353").unwrap().to_string(), "[2001:db8::53]:5353");
        assert!(resolver("dns.example").is_err());
    }
}
