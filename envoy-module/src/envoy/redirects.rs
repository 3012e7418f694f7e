//! The address that a stream leaves for the next one that Envoy makes of the same request, as for an internal redirect.

use std::ffi::c_void;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::abi::{Buffer, LIFE_OF_REQUEST};
use super::stream::{Refused, StreamHandle};
use super::{callbacks, catch};

/// An address as it is kept. Its form must not change: two versions of a module may be in one process.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct KeptAddress {
    is_v4: bool,
    /// Of IPv4, the first four.
    octets: [u8; 16],
}

impl StreamHandle<'_> {
    /// Keeps an address as long as the request, for the module of this name. An Envoy without the callback keeps nothing.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    pub(crate) fn keep_address(&mut self, module: &str, address: IpAddr) -> Result<(), Refused> {
        let Some(keep) = callbacks().http_set_filter_state_object else { return Ok(()) };
        let (is_v4, octets) = match address {
            IpAddr::V4(address) => (true, (u128::from(u32::from(address)) << 96).to_be_bytes()),
            IpAddr::V6(address) => (false, address.octets()),
        };
        let value = Box::into_raw(Box::new(KeptAddress { is_v4, octets })).cast::<c_void>();
        // SAFETY: a hook of the stream is running. From here on the value is Envoy's, which frees it once, by `free`, also if it
        // refuses the call.
        let done =
            unsafe { keep(self.stream, Buffer::of(key(module).as_bytes()), value, free, LIFE_OF_REQUEST) };
        if done { Ok(()) } else { Err(Refused::of("http_set_filter_state_object")) }
    }

    /// The address that [`Self::keep_address`] kept for the request.
    pub(crate) fn kept_address(&self, module: &str) -> Option<IpAddr> {
        let kept = callbacks().http_get_filter_state_object?;
        // SAFETY: a hook of the stream is running.
        let value = unsafe { kept(self.stream, Buffer::of(key(module).as_bytes())) };
        if value.is_null() {
            return None;
        }
        // SAFETY: `keep_address` made the object under this key, which begins with the module's name, so that no other module uses
        // it. Envoy frees it only when the request ends or the key is set again, and the value is copied before either.
        let KeptAddress { is_v4, octets } = unsafe { *value.cast::<KeptAddress>() };
        let address = u128::from_be_bytes(octets);
        Some(match is_v4 {
            true => Ipv4Addr::from((address >> 96) as u32).into(),
            false => Ipv6Addr::from(address).into(),
        })
    }
}

fn key(module: &str) -> String {
    format!("{module}.kept_address")
}

unsafe extern "C" fn free(value: *mut c_void) {
    // SAFETY: `keep_address` made the value, and Envoy calls this once.
    let _ = catch(|| drop(unsafe { Box::from_raw(value.cast::<KeptAddress>()) }));
}
