//! The client's address by `X-Forwarded-For`, where the configuration says how far Envoy trusts it.
//!
//! The configuration is a statement about Envoy, and nothing keeps it true. So the filter asks Envoy, too, now and then, and no
//! longer believes the statement once Envoy names another address.

use std::cell::Cell;
use std::net::IpAddr;

use crawlpike_core::metrics::OnceAMinute;
use crawlpike_envoy_gate::Forwarded;

use crate::raw;

/// The trust in `X-Forwarded-For`, for the requests of one configuration in one virtual machine.
#[derive(Debug)]
pub struct TrustedHops {
    hops: u8,
    is_check_due: Cell<bool>,
    /// True if Envoy has named another address.
    is_refuted: Cell<bool>,
    warned: OnceAMinute,
}

impl TrustedHops {
    /// So many proxies as in Envoy's `xff_num_trusted_hops`. The first request checks it.
    pub const fn new(hops: u8) -> Self {
        Self { hops, is_check_due: Cell::new(true), is_refuted: Cell::new(false), warned: OnceAMinute::new() }
    }

    /// Has the next request check it.
    pub fn check_again(&self) {
        self.is_check_due.set(true);
    }

    /// The address that Envoy took, or what `ask` gets from Envoy.
    pub(crate) fn address(
        &self,
        forwarded: &Forwarded<'_>,
        ask: impl FnOnce() -> Option<IpAddr>,
    ) -> Option<IpAddr> {
        if self.is_refuted.get() {
            return ask();
        }
        let Some(stated) = forwarded.address(self.hops) else {
            if forwarded.forwarded_for.is_none() {
                self.warn_of_absence();
            }
            return ask();
        };
        if !self.is_check_due.replace(false) {
            return Some(stated);
        }
        let asked = ask();
        if asked.map(|address| address.to_canonical()) != Some(stated.to_canonical()) {
            self.is_refuted.set(true);
            log::warn!(
                "crawlpike: `trusted_hops` is {}, but Envoy took another address than this says: the filter asks Envoy for \
                 each address until the next configuration. Set `trusted_hops` to Envoy's xff_num_trusted_hops, or leave it \
                 out",
                self.hops
            );
        }
        asked
    }

    fn warn_of_absence(&self) {
        // Without a clock, the first warning is the only one.
        if self.warned.is_due(raw::now().unwrap_or_default()) {
            log::warn!(
                "crawlpike: `trusted_hops` is {}, but a request has no single X-Forwarded-For: the filter asks Envoy for its \
                 address",
                self.hops
            );
        }
    }
}
