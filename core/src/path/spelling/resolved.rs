//! The room in which a resolved path is put together.

use memchr::memrchr;

use super::{ENCODED, Kind, first_reserved};

/// The segments of a resolved path, each after a slash.
pub(super) struct Resolved<'r> {
    room: &'r mut [u8],
    length: usize,
    /// The number of segments that did not fit, and the first of them.
    lost: usize,
    first_lost: &'r [u8],
    /// As of what reserved characters are decoded in the segments that are pushed, if they are.
    decoded: Option<Kind>,
}

impl<'r> Resolved<'r> {
    pub(super) fn new(room: &'r mut [u8], decoded: Option<Kind>) -> Self {
        Self { room, length: 0, lost: 0, first_lost: b"", decoded }
    }

    pub(super) fn push(&mut self, segment: &'r [u8]) {
        if self.lost == 0 && self.length + 1 + segment.len() <= self.room.len() {
            self.append(b"/");
            self.append_segment(segment);
        } else {
            if self.lost == 0 {
                self.first_lost = segment;
            }
            self.lost += 1;
        }
    }

    /// Takes the last segment away; above the root there is nothing.
    pub(super) fn pop(&mut self) {
        match self.lost.checked_sub(1) {
            Some(fewer) => self.lost = fewer,
            None => {
                let kept = self.room.get(..self.length).unwrap_or_default();
                self.length = memrchr(b'/', kept).unwrap_or(0);
            }
        }
    }

    fn append_segment(&mut self, mut segment: &[u8]) {
        if let Some(kind) = self.decoded {
            while let Some((at, byte)) = first_reserved(segment, kind) {
                self.append(segment.get(..at).unwrap_or_default());
                self.append(&[byte]);
                segment = segment.get(at + ENCODED..).unwrap_or_default();
            }
        }
        self.append(segment);
    }

    /// Appends as much as fits.
    fn append(&mut self, bytes: &[u8]) {
        let free = self.room.get_mut(self.length..).unwrap_or_default();
        free.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.length += free.len().min(bytes.len());
    }

    /// Appends what does not fit whole, merges slashes, and gives all.
    pub(super) fn finish(mut self, query: &[u8]) -> &'r [u8] {
        if self.lost > 0 {
            self.append(b"/");
            self.append_segment(self.first_lost);
        }
        self.merge_slashes();
        if self.lost == 0 {
            self.append(query);
        }
        self.room.get(..self.length).unwrap_or_default()
    }

    fn merge_slashes(&mut self) {
        let (mut kept, mut before) = (0, 0);
        for at in 0..self.length {
            let Some(byte) = self.room.get(at).copied() else { break };
            if byte != b'/' || before != b'/' {
                if let Some(to) = self.room.get_mut(kept) {
                    *to = byte;
                }
                kept += 1;
            }
            before = byte;
        }
        self.length = kept;
    }
}
