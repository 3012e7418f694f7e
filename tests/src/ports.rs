//! Free loopback ports.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the range from which Linux takes the ports of outgoing connections: a port from there could be taken by a
/// client of another test between our look and the server's start.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port for a server of its own process that is free on 127.0.0.1 and on ::1; never the same one twice in a process.
///
/// What listens in this process binds to port 0 instead: a process that another test starts at that moment can have a copy of the
/// socket with which we looked, until it runs its program.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Test programs run side by side begin at different places.
    let start = (std::process::id().wrapping_mul(97) % u32::from(COUNT)) as u16;
    for _ in 0..COUNT {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + (start + step % COUNT) % COUNT;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
            && TcpListener::bind((Ipv6Addr::LOCALHOST, port)).is_ok()
        {
            return port;
        }
    }
    panic!("no free port from {FIRST} to {}", FIRST + COUNT);
}
