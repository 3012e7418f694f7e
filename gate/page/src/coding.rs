//! Bodies without their content coding.

use std::io::Read;

use brotli_decompressor::Decompressor;
use crawlpike_core::Coding;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::memory::{Held, NoRoom, Share};

/// The number of bytes that are decoded at once.
const STEP: usize = 16 << 10;

/// The reason why a body could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undecoded {
    /// It is not in this coding.
    Broken,
    /// There is no room for it.
    NoRoom(NoRoom),
}

/// The body without its coding.
pub(crate) enum Decoded<'b> {
    /// It has none.
    AsItCame(&'b [u8]),
    /// Another one.
    Other(Held),
}

impl AsRef<[u8]> for Decoded<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::AsItCame(bytes) => bytes,
            Self::Other(held) => held.as_ref(),
        }
    }
}

/// The body without its coding, of at most `most` bytes, which it claims in `share`.
pub(crate) fn decoded(
    body: &[u8],
    coding: Coding,
    most: usize,
    share: Share,
) -> Result<Decoded<'_>, Undecoded> {
    let decoded = match coding {
        Coding::Identity if body.len() <= most => return Ok(Decoded::AsItCame(body)),
        Coding::Identity => return Err(Undecoded::NoRoom(NoRoom::Page)),
        Coding::Gzip => read_all(MultiGzDecoder::new(body), most, share),
        Coding::Deflate if is_zlib(body) => read_all(ZlibDecoder::new(body), most, share),
        Coding::Deflate => read_all(DeflateDecoder::new(body), most, share),
        Coding::Brotli => read_all(Decompressor::new(body, STEP), most, share),
    };
    decoded.map(Decoded::Other)
}

/// Returns true if a body begins as zlib's format does (RFC 1950 2.2). Some servers send bare deflate instead.
fn is_zlib(body: &[u8]) -> bool {
    let Some([method, flags]) = body.first_chunk() else { return false };
    method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]) % 31 == 0
}

fn read_all(mut reader: impl Read, most: usize, share: Share) -> Result<Held, Undecoded> {
    let mut decoded = Held::new(share);
    let mut step = vec![0; STEP];
    loop {
        let length = reader.read(&mut step).map_err(|_| Undecoded::Broken)?;
        match step.get(..length) {
            None | Some([]) => return Ok(decoded),
            Some(bytes) => decoded.push(bytes, most, 0).map_err(Undecoded::NoRoom)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use crawlpike_core::NetworkKey;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;
    use crate::memory::Memory;

    static MEMORY: Memory = Memory::new();

    fn decoded(body: &[u8], coding: Coding, most: usize) -> Result<Vec<u8>, Undecoded> {
        let decoded = super::decoded(body, coding, most, MEMORY.share(usize::MAX, NetworkKey::default()));
        decoded.map(|decoded| decoded.as_ref().to_vec())
    }

    const TOO_LARGE: Result<Vec<u8>, Undecoded> = Err(Undecoded::NoRoom(NoRoom::Page));

    const TEXT: &[u8] = b"<p>Text text text text text text text text text text.</p>";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(text: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn brotli(text: &[u8]) -> Vec<u8> {
        let mut encoded = Vec::new();
        brotli::BrotliCompress(&mut &text[..], &mut encoded, &brotli::enc::BrotliEncoderParams::default())
            .unwrap();
        encoded
    }

    #[test]
    fn bodies_are_decoded_within_the_limit() {
        for (coding, body) in [
            (Coding::Identity, TEXT.to_vec()),
            (Coding::Gzip, gzip(TEXT)),
            (Coding::Gzip, [gzip(&TEXT[..9]), gzip(&TEXT[9..])].concat()),
            (Coding::Deflate, zlib(TEXT)),
            (Coding::Deflate, deflate(TEXT)),
            (Coding::Brotli, brotli(TEXT)),
        ] {
            assert_eq!(decoded(&body, coding, TEXT.len()).as_deref(), Ok(TEXT), "{coding:?}");
            assert_eq!(decoded(&body, coding, TEXT.len() - 1), TOO_LARGE, "{coding:?}");
            if coding != Coding::Identity {
                for end in 0..body.len() {
                    let cut = decoded(&body[..end], coding, TEXT.len());
                    assert!(cut.map_or(true, |cut| cut.len() < TEXT.len()), "{coding:?} cut at {end}");
                }
            }
        }
        for coding in [Coding::Gzip, Coding::Brotli] {
            assert_eq!(decoded(TEXT, coding, 1 << 20), Err(Undecoded::Broken), "{coding:?}");
        }
    }

    #[test]
    fn a_bomb_costs_no_more_than_the_limit() {
        let zeros = vec![0; 4 << 20];
        for (coding, bomb) in [(Coding::Gzip, gzip(&zeros)), (Coding::Brotli, brotli(&zeros))] {
            assert!(bomb.len() < 64 << 10);
            assert_eq!(decoded(&bomb, coding, 64 << 10), TOO_LARGE);
            let little =
                super::decoded(&bomb, coding, 8 << 20, MEMORY.share(64 << 10, NetworkKey::default()));
            assert!(matches!(little, Err(Undecoded::NoRoom(NoRoom::All))));
        }
    }
}
