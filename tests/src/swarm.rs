//! A swarm: many addresses in some networks, with the User-Agent of a browser and a request each; and an agent at work.

use crate::http::{Connection, Request};
use crate::lab::{FIREFOX, from};
use crate::nginx::local;

/// The networks of the swarm, each with [`ADDRESSES`] addresses.
pub const NETWORKS: u8 = 200;
/// The addresses of a network.
pub const ADDRESSES: u8 = 100;

/// The numbers of requests that were let through.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Admitted {
    /// Of 20,000 of the swarm.
    pub swarm: u32,
    /// Of 1,000 of the verified agent.
    pub verified: u32,
}

/// Has the swarm ask for a path, network by network, so that a rate of one request a minute adds none.
///
/// # Panics
///
/// If the server answers with another status than 200 and 429.
pub fn attack(port: u16, path: &str) -> Admitted {
    let mut admitted = Admitted::default();
    let mut connection = None;
    let mut ask = |address: &str, user_agent: &str| {
        let request = from(address, Request::get(path).agent(user_agent));
        // Servers close a connection after some requests.
        let response = loop {
            let open = connection.take().unwrap_or_else(|| Connection::open(local(port)).expect("a server"));
            let mut open = open;
            if let Ok(response) = open.send(&request) {
                connection = Some(open).filter(|_| response.header("connection") != Some("close"));
                break response;
            }
        };
        assert!([200, 429].contains(&response.status), "{response:?}");
        u32::from(response.status == 200)
    };
    for network in 0..NETWORKS {
        for host in 0..ADDRESSES {
            admitted.swarm += ask(&format!("45.{network}.7.{host}"), FIREFOX);
            if host.is_multiple_of(20) {
                admitted.verified += ask("192.0.2.1", "LabBot/1.0");
            }
        }
    }
    admitted
}

/// Checks that each network had this burst, give or take 5 %, and the verified agent everything.
///
/// # Panics
///
/// If not.
pub fn check(admitted: &Admitted, burst: u32) {
    let expected = u32::from(NETWORKS) * burst;
    assert!(admitted.swarm.abs_diff(expected) * 20 <= expected, "{admitted:?} of {expected}");
    assert_eq!(admitted.verified, 1000, "{admitted:?}");
}
