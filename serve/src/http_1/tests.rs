use tokio::io::duplex;
use tokio::runtime;

use super::*;
use crate::draws::draws;

/// The heads in these bytes, however these come, and the reason that no more are read.
fn heads(bytes: &[u8]) -> (Vec<String>, Option<Unclear>) {
    let runtime = runtime::Builder::new_current_thread().build().unwrap();
    let in_pieces = |length: usize| {
        let (mut peer, own) = duplex(length);
        let sends = async move { drop(peer.write_all(bytes).await) };
        let reads = async move {
            let mut http = Http1::new(own);
            let mut heads = Vec::new();
            while let Some(head) = http.head().await {
                match head.and_then(|mut head| Head::read(&mut head).map(|head| shown(&head))) {
                    Ok(head) => heads.push(head),
                    Err(why) => return (heads, Some(why)),
                }
            }
            (heads, None)
        };
        runtime.block_on(async { tokio::join!(reads, sends).0 })
    };
    let whole = in_pieces(bytes.len().max(1));
    assert!([1, 2, 3, 1000].into_iter().all(|length| in_pieces(length) == whole));
    whole
}

fn shown(Head { method, target, headers, is_last }: &Head<'_>) -> String {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let lines = headers.iter().map(|(name, value)| format!(" {name}={}", text(value)));
    format!(
        "{} {}{}{}",
        text(method),
        text(target),
        lines.collect::<String>(),
        if *is_last { "." } else { "" }
    )
}

#[test]
fn a_head_is_read_as_it_is() {
    for (head, expected) in [
        ("GET / HTTP/1.1\r\nHost: A.test\r\nX-a:\t 1 2 \r\nx-A:\r\n", "GET / host=A.test x-a=1 2 x-a="),
        ("GET /envoy/a<b>`{\"\\^|}?q=\"<`#c HTTP/1.1\n", r#"GET /envoy/a<b>`{\"\\^|}?q=\"<`#c"#),
        ("GET /a b\u{1}\u{e9} HTTP/1.1\r\n", r"GET /a b\x01\xc3\xa9"),
        ("OPTIONS * HTTP/1.1\r\nCookie: a=\u{1}b:\u{7f}\r\n", r"OPTIONS * cookie=a=\x01b:\x7f"),
        ("\r\n\nGET / HTTP/1.0\r\n", "GET /."),
        ("GET / HTTP/1.1\r\nConnection: x, Close\r\n", "GET / connection=x, Close."),
        ("GET / HTTP/1.1\r\nContent-Length: 0\r\n", "GET / content-length=0"),
        ("GET / HTTP/1.1\r\nContent-Length: 1\r\n", "GET / content-length=1."),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", "GET / transfer-encoding=chunked."),
    ] {
        let end = if head.contains('\r') { "\r\n" } else { "\n" };
        let twice = [head, end, head, end].concat();
        assert_eq!(heads(twice.as_bytes()), (vec![expected.to_owned(); 2], None), "{head:?}");
    }
}

#[test]
fn what_is_not_a_head_is_not_guessed() {
    for wrong in [
        "GET\r\n",
        "GET /\r\n",
        "GET / HTTP/2.0\r\n",
        "GET  HTTP/1.1\r\n",
        " / HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\nx\r\n",
        "GET / HTTP/1.1\r\n: y\r\n",
        "GET / HTTP/1.1\r\nx : y\r\n",
        "GET / HTTP/1.1\r\nx: y\r\n z\r\n",
        "GET / HTTP/1.1\r\n\u{e9}: y\r\n",
    ] {
        assert_eq!(heads(format!("{wrong}\r\n").as_bytes()), (vec![], Some(Unclear::Head)), "{wrong:?}");
        assert_eq!(heads(wrong.as_bytes()), (vec![], None), "{wrong:?} without its end");
    }
}

#[test]
fn whatever_is_sent_is_read_or_refused() {
    const PIECES: [&[u8]; 12] = [
        b"GET /",
        b" HTTP/1.1",
        b" ",
        b"\r\n",
        b"\n",
        b"\r",
        b":",
        b"host: a",
        b"Connection: close",
        b"content-length:",
        b"\0",
        b"\xff\x80",
    ];
    let mut draw = draws();
    let mut read = 0;
    for _ in 0..200_000 {
        let mut head = [PIECES[0], PIECES[1], b"\r\n"].concat().split_off(draw(12) * draw(2));
        (0..draw(10)).for_each(|_| head.extend(PIECES[draw(PIECES.len())]));
        if let Ok(head) = Head::read(&mut head) {
            read += 1;
            let is_name = |name: &str| !name.is_empty() && !name.contains([' ', ':', '\r', '\n', '\0']);
            assert!(head.headers.iter().all(|(name, value)| is_name(name) && !value.contains(&b'\n')));
        }
    }
    assert!(read > 100, "{read}");
}

#[test]
fn a_head_has_a_limit() {
    let head = |length: usize| {
        let start = "GET / HTTP/1.1\r\nx: ";
        [start, &"y".repeat(length - start.len() - 4), "\r\n\r\n"].concat()
    };
    assert_eq!(heads(head(MOST_HEAD).as_bytes()).1, None);
    for wrong in [head(MOST_HEAD + 1), "GET ".repeat(MOST_HEAD)] {
        assert_eq!(heads(wrong.as_bytes()), (vec![], Some(Unclear::Size(MOST_HEAD))));
    }
    // Lines have none.
    let (heads, why) = heads(format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(20_000)).as_bytes());
    assert_eq!((heads.concat().matches("x=y").count(), why), (20_000, None));
}

#[test]
fn a_reply_has_only_what_http_can_carry() {
    let header = |name: &[u8], value: &[u8]| (name.to_vec(), value.to_vec());
    let headers = vec![header(b"A", b"b"), header(b"a b", b"c"), header(b"d", b"e\r\nf: g")];
    let reply = Reply { status: 403, headers, body: b"body".to_vec() };
    let written = |has_body, is_last| {
        let text = String::from_utf8(reply.bytes(has_body, is_last)).unwrap();
        let (start, rest) = text.split_once("\r\ndate: ").unwrap();
        format!("{start}\r\n{}", rest.split_once("\r\n").unwrap().1)
    };
    let head = "HTTP/1.1 403 Forbidden\r\ncontent-length: 4\r\na: b\r\n";
    assert_eq!(written(true, false), format!("{head}\r\nbody"));
    assert_eq!(written(false, true), format!("{head}connection: close\r\n\r\n"));
}
