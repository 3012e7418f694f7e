//! The HTTP methods that the grammar of `allowed-methods` knows.

/// One of the nine methods of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Method(u16);

impl Method {
    const NAMES: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"];

    /// The method of a request, whose name is case-sensitive (RFC 9110, 9.1). `None` for any other: no file allows it.
    pub(crate) fn of_request(name: &[u8]) -> Option<Self> {
        Self::find(|known| name == known.as_bytes())
    }

    /// The method that a file names, read without regard to case.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        Self::find(|known| name.eq_ignore_ascii_case(known.as_bytes()))
    }

    fn find(is: impl FnMut(&&str) -> bool) -> Option<Self> {
        Self::NAMES.iter().position(is).map(|index| Self(1 << index))
    }
}

/// The methods that a group allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MethodSet(u16);

impl MethodSet {
    /// Returns true if the method is one of them.
    pub(crate) fn contains(self, method: Method) -> bool {
        self.0 & method.0 != 0
    }

    /// Adds a method.
    pub(crate) fn insert(&mut self, method: Method) {
        self.0 |= method.0;
    }

    /// Returns true if there are none.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}
