//! DNS servers on loopback, over UDP and TCP, which know some records, or misbehave.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::rdata::{CNAME, PTR, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};

use crate::serving::{Asked, serve, serve_at};

/// A server's answer.
#[derive(Clone, Debug)]
pub enum Reply {
    /// These TXT records, each of one or more strings.
    Texts(Vec<Vec<String>>),
    /// The same, of a name that an alias leads to.
    Alias(Vec<Vec<String>>),
    /// The same over TCP only; over UDP that it does not fit.
    Long(Vec<Vec<String>>),
    /// These records; over UDP that they do not fit, if so.
    Records(Vec<Record>),
    /// There is no such name.
    NoName,
    /// The server cannot say.
    Failure,
    /// First what somebody else would send who guesses, then nothing.
    Forged(Vec<Vec<String>>),
    /// Nothing.
    Silence,
}

impl Reply {
    /// One TXT record of one string.
    pub fn text(text: &str) -> Self {
        Self::Texts(vec![vec![text.to_owned()]])
    }
}

/// Names of addresses, and addresses of names.
#[derive(Clone, Debug, Default)]
pub struct Zone(Vec<Record>);

impl Zone {
    /// The TTL of its records, in seconds.
    const LIFE: u32 = 300;

    fn with(mut self, name: Name, data: RData) -> Self {
        self.0.push(Record::from_rdata(name, Self::LIFE, data));
        self
    }

    /// With a name of an address.
    ///
    /// # Panics
    ///
    /// If one of them is none.
    #[must_use]
    pub fn name(self, address: &str, name: &str) -> Self {
        self.named(address, from_dotted(name))
    }

    /// With a name of an address, whose labels may have any bytes.
    ///
    /// # Panics
    ///
    /// If that is not an address.
    #[must_use]
    pub fn named(self, address: &str, name: Name) -> Self {
        let address: IpAddr = address.parse().expect("an address");
        self.with(address.into(), RData::PTR(PTR(name)))
    }

    /// With an address of a name.
    ///
    /// # Panics
    ///
    /// If one of them is none.
    #[must_use]
    pub fn address(self, name: &str, address: &str) -> Self {
        let data = match address.parse().expect("an address") {
            IpAddr::V4(v4) => RData::A(v4.into()),
            IpAddr::V6(v6) => RData::AAAA(v6.into()),
        };
        self.with(from_dotted(name), data)
    }

    /// With another name for a name.
    ///
    /// # Panics
    ///
    /// If one of them is none.
    #[must_use]
    pub fn alias(self, name: &str, target: &str) -> Self {
        self.with(from_dotted(name), RData::CNAME(CNAME(from_dotted(target))))
    }

    /// With other names for the names of addresses, as in a zone that is delegated by address (RFC 2317).
    ///
    /// # Panics
    ///
    /// If one of them is none.
    #[must_use]
    pub fn delegated(self, address: &str, target: &str, name: &str) -> Self {
        let address: IpAddr = address.parse().expect("an address");
        let target = from_dotted(target);
        let name = RData::PTR(PTR(from_dotted(name)));
        self.with(address.into(), RData::CNAME(CNAME(target.clone()))).with(target, name)
    }

    /// The records of a name, through aliases.
    pub fn reply(&self, name: &Name, wanted: RecordType) -> Reply {
        let mut wanted_name = name.clone();
        let mut found = Vec::new();
        while found.len() < 10 {
            let of_name = self.0.iter().filter(|record| record.name == wanted_name);
            let alias = of_name.clone().find_map(|record| match &record.data {
                RData::CNAME(CNAME(target)) => Some((record.clone(), target.clone())),
                _ => None,
            });
            let Some((record, target)) = alias else {
                found.extend(of_name.filter(|record| record.record_type() == wanted).cloned());
                break;
            };
            found.push(record);
            wanted_name = target;
        }
        let is_known = !found.is_empty() || self.0.iter().any(|record| record.name == *name);
        if is_known { Reply::Records(found) } else { Reply::NoName }
    }
}

/// A name of labels with dots between them. Any label will do, unlike for the library's own reading of text.
fn from_dotted(name: &str) -> Name {
    let labels = name.trim_end_matches('.').split('.').map(str::as_bytes);
    Name::from_labels(labels).expect("a name")
}

/// A server's answer to a question for a name and a type.
type Answers = dyn Fn(&Name, RecordType) -> Reply + Send + Sync;

/// The largest answer over UDP, in bytes.
const PAYLOAD: usize = 1232;

/// A server on a free port.
#[derive(Debug)]
pub struct DnsServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl DnsServer {
    /// A server that answers every question so.
    pub fn new(reply: Reply) -> Self {
        Self::answering(move |_, _| reply.clone())
    }

    /// A server that answers each question as this says, which may take its time.
    ///
    /// # Panics
    ///
    /// If the machine has no free port.
    pub fn answering(reply: impl Fn(&Name, RecordType) -> Reply + Send + Sync + 'static) -> Self {
        let reply: Arc<Answers> = Arc::new(reply);
        // The port of UDP may be taken for TCP.
        let (udp, tcp) = (0..100)
            .find_map(|_| {
                let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
                let tcp = TcpListener::bind(udp.local_addr().unwrap()).ok()?;
                Some((udp, tcp))
            })
            .unwrap();
        let address = udp.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (over_tcp, asked_over_tcp) = (Arc::clone(&reply), Arc::clone(&asked));
        serve_at(tcp, move |stream| converse(stream, &*over_tcp, &asked_over_tcp));
        let asked_over_udp = Arc::clone(&asked);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok((length, client)) = udp.recv_from(&mut buffer) {
                let (udp, reply) = (udp.try_clone().unwrap(), Arc::clone(&reply));
                let (query, asked) = (buffer[..length].to_vec(), Arc::clone(&asked_over_udp));
                thread::spawn(move || {
                    for answer in answers(&query, &*reply, false, &asked) {
                        let _ = udp.send_to(&answer, client);
                    }
                });
            }
        });
        Self { address, asked }
    }

    /// Its address, for `--resolver`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// The names that it was asked for.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A server over HTTP (RFC 8484), as a cluster of Envoy reaches it.
#[derive(Debug)]
pub struct DohServer {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

/// The bytes of the response that such a server sends instead of a DNS answer.
type Instead = dyn Fn(&Name, RecordType) -> Option<Vec<u8>> + Send + Sync;

impl DohServer {
    /// A server that answers each question as this says.
    pub fn answering(reply: impl Fn(&Name, RecordType) -> Reply + Send + Sync + 'static) -> Self {
        Self::start(reply, |_, _| None)
    }

    /// A server that sends these bytes where there are any, and otherwise answers as it should.
    pub fn start(
        reply: impl Fn(&Name, RecordType) -> Reply + Send + Sync + 'static,
        instead: impl Fn(&Name, RecordType) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let by_all = Arc::clone(&asked);
        let port = serve(move |stream| answer_over_http(stream, &reply, &instead, &by_all)).port();
        Self { port, asked }
    }

    /// Its port of 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The names that it was asked for.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Answers the questions of a connection, one after another. Without an answer, it stays open.
fn answer_over_http(
    mut stream: &TcpStream,
    reply: &Answers,
    instead: &Instead,
    asked: &Mutex<Vec<String>>,
) -> io::Result<()> {
    loop {
        let request = Asked::read(&mut stream)?;
        assert_eq!(request.lines[0], "POST /dns-query HTTP/1.1");
        assert_eq!(request.header("content-type"), Some("application/dns-message"));
        assert_eq!(request.header("host"), Some("dns.test"));
        let message = Message::from_vec(&request.body).expect("a message");
        let question = &message.queries[0];
        if let Some(bytes) = instead(&question.name, question.query_type) {
            asked.lock().unwrap_or_else(PoisonError::into_inner).push(question.name.to_ascii());
            stream.write_all(&bytes)?;
            continue;
        }
        for answer in answers(&request.body, reply, true, asked) {
            stream.write_all(&http_response("application/dns-message", &answer))?;
        }
    }
}

/// A response over HTTP.
pub fn http_response(media_type: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn converse(mut stream: &TcpStream, reply: &Answers, asked: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut query = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut query)?;
    for answer in answers(&query, reply, true, asked) {
        stream.write_all(&u16::try_from(answer.len()).unwrap().to_be_bytes())?;
        stream.write_all(&answer)?;
    }
    Ok(())
}

fn answers(query: &[u8], reply: &Answers, is_tcp: bool, asked: &Mutex<Vec<String>>) -> Vec<Vec<u8>> {
    let query = Message::from_vec(query).unwrap();
    let name = query.queries[0].name.clone();
    asked.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_ascii());
    let reply = reply(&name, query.queries[0].query_type);
    let mut answer = Message::response(query.metadata.id, query.metadata.op_code);
    answer.add_queries(query.queries);
    let mut add = |name: &Name, texts: &[Vec<String>]| {
        for text in texts {
            answer.add_answer(Record::from_rdata(name.clone(), 60, RData::TXT(TXT::new(text.clone()))));
        }
    };
    match reply {
        Reply::Texts(texts) => add(&name, &texts),
        Reply::Alias(texts) => {
            let target = Name::from_ascii("proof.example.net.").unwrap();
            add(&target, &texts);
            answer.add_answer(Record::from_rdata(name, 60, RData::CNAME(CNAME(target))));
        }
        Reply::Long(texts) if is_tcp => add(&name, &texts),
        Reply::Long(_) => answer.metadata.truncation = true,
        Reply::Records(records) => {
            answer.add_answers(records);
            if !is_tcp && answer.to_vec().unwrap().len() > PAYLOAD {
                answer.answers.clear();
                answer.metadata.truncation = true;
            }
        }
        Reply::NoName => answer.metadata.response_code = ResponseCode::NXDomain,
        Reply::Failure => answer.metadata.response_code = ResponseCode::ServFail,
        Reply::Forged(texts) => {
            add(&name, &texts);
            answer.metadata.id = answer.metadata.id.wrapping_add(1);
        }
        Reply::Silence => return Vec::new(),
    }
    vec![answer.to_vec().unwrap()]
}
