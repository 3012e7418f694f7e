//! Free loopback ports.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, UdpSocket};
use std::sync::{Mutex, PoisonError};

/// Below the range from which Linux takes the ports of outgoing connections: a port from there could be taken by a
/// client of another test between our look and the server's start.
const FIRST: u16 = 20_000;
const BLOCKS: u16 = 300;
const BLOCK: u16 = 40;

/// An address of loopback at which no server is. A process that has a socket there has claimed a block of ports, so that
/// test programs that run side by side use different ones.
const CLAIMS: Ipv4Addr = Ipv4Addr::new(127, 83, 67, 80);

struct Ports {
    /// The next port, and the end of its block.
    next: u16,
    end: u16,
    claims: Vec<UdpSocket>,
}

impl Ports {
    fn claim_block(&mut self) {
        let start = std::process::id() % u32::from(BLOCKS);
        for step in 0..u32::from(BLOCKS) {
            let number = ((start + step) % u32::from(BLOCKS)) as u16;
            let first = FIRST + number * BLOCK;
            if let Ok(claim) = UdpSocket::bind((CLAIMS, first)) {
                self.claims.push(claim);
                (self.next, self.end) = (first, first + BLOCK);
                return;
            }
        }
        panic!("no free port from {FIRST} to {}", FIRST + BLOCKS * BLOCK);
    }
}

/// A port for a server of its own process that is free on 127.0.0.1 and on ::1; never the same one twice in a process.
///
/// A server in this process binds to port 0 instead: a process that another test starts at that moment can have a copy of the
/// socket with which we looked, until it runs its program.
pub fn free_port() -> u16 {
    static PORTS: Mutex<Ports> = Mutex::new(Ports { next: 0, end: 0, claims: Vec::new() });
    let mut ports = PORTS.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if ports.next == ports.end {
            ports.claim_block();
        }
        let port = ports.next;
        ports.next += 1;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
            && TcpListener::bind((Ipv6Addr::LOCALHOST, port)).is_ok()
        {
            return port;
        }
    }
}
