//! Connections that distinguish an end from a break. An answer may state no length, and last until the publisher closes the
//! connection. The HTTP library treats a broken connection as a closed one, and half a list is a list. So a break becomes
//! another error, which the library passes on.

use std::{fmt, io};

use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

/// Wraps the connections of other connectors.
#[derive(Debug)]
pub(super) struct Whole;

impl<T: Transport> Connector<T> for Whole {
    type Out = WholeTransport<T>;

    fn connect(&self, _: &ConnectionDetails, chained: Option<T>) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(WholeTransport))
    }
}

/// A connection whose break is an error.
#[derive(Debug)]
pub(super) struct WholeTransport<T>(T);

impl<T: Transport> Transport for WholeTransport<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.0.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.0.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        match self.0.await_input(timeout) {
            Err(Error::Io(error)) if is_break(error.kind()) => Err(Error::Io(io::Error::other(Broken))),
            result => result,
        }
    }

    fn is_open(&mut self) -> bool {
        self.0.is_open()
    }

    fn is_tls(&self) -> bool {
        self.0.is_tls()
    }
}

/// The break of a connection.
#[derive(Debug)]
struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection broke")
    }
}

impl std::error::Error for Broken {}

/// Returns true if an error is the break of a connection.
pub(super) fn is_broken(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<Broken>()).is_some()
}

/// `UnexpectedEof` is the end of a TLS connection that TLS does not confirm.
fn is_break(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted
    )
}
