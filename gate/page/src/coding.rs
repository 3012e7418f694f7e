//! Bodies without their content coding.

mod brotli;

use std::io::{ErrorKind, Read};

use brotli::Brotli;
use crawlpike_core::Coding;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::memory::{Held, NoRoom, Share};

/// The number of bytes that are decoded at once.
const STEP: usize = 16 << 10;

/// The bytes that a decoder takes whatever the body is. Those of gzip are the most: a window of 32 KiB with its tables, and three fields
/// of a header, of 64 KiB each, of which one may be moving as it grows. What Brotli takes beyond that, it claims itself.
const DECODER: usize = 320 << 10;

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
    let mut decoder = share.another();
    if coding != Coding::Identity && !decoder.claim(DECODER, 0) {
        return Err(Undecoded::NoRoom(NoRoom::All));
    }
    let decoded = match coding {
        Coding::Identity if body.len() <= most => return Ok(Decoded::AsItCame(body)),
        Coding::Identity => return Err(Undecoded::NoRoom(NoRoom::Page)),
        Coding::Gzip => read_all(MultiGzDecoder::new(body), most, share),
        Coding::Deflate if is_zlib(body) => read_all(ZlibDecoder::new(body), most, share),
        Coding::Deflate => read_all(DeflateDecoder::new(body), most, share),
        Coding::Brotli => read_all(Brotli::new(body, &decoder), most, share),
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
        let length = reader.read(&mut step).map_err(|error| match error.kind() {
            ErrorKind::OutOfMemory => Undecoded::NoRoom(NoRoom::All),
            _ => Undecoded::Broken,
        })?;
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
        let parameters = ::brotli::enc::BrotliEncoderParams::default();
        ::brotli::BrotliCompress(&mut &text[..], &mut encoded, &parameters).unwrap();
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

    /// Two blocks that are not compressed, with a window of 16 MiB.
    fn in_large_window(text: &[u8]) -> Vec<u8> {
        let length = u32::try_from(text.len() - 1).unwrap();
        let block = |head: u32| [&head.to_le_bytes()[..3], text].concat();
        [block(0xF | length << 7 | 1 << 23), block(length << 3 | 1 << 19), vec![3]].concat()
    }

    #[test]
    fn a_decoder_claims_what_it_takes_and_goes_without() {
        static OWN: Memory = Memory::new();
        let least = |body: &[u8], coding, text: &[u8]| {
            let within = |most: &usize| {
                let share = OWN.share(*most, NetworkKey::default());
                match super::decoded(body, coding, text.len(), share).map(|it| it.as_ref() == text) {
                    Ok(is_right) => is_right,
                    Err(why) => {
                        assert_eq!(why, Undecoded::NoRoom(NoRoom::All), "{coding:?} within {most}");
                        false
                    }
                }
            };
            let least = (0..64 << 20).step_by(64 << 10).find(within).unwrap();
            assert_eq!(OWN.held(), 0);
            // One network may hold half.
            least / 2
        };
        // Of several blocks, and with trees for several kinds of text.
        let mut number = 1_u64;
        let mut words = |alphabet: u64| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from_digit(u32::try_from((number >> 33) % alphabet).unwrap(), 36).unwrap()
        };
        let text: String = (0..400_000_u64).map(|at| words(2 + at / 20_000)).collect();
        let text = text.as_bytes();
        for (coding, body) in
            [(Coding::Gzip, gzip(text)), (Coding::Deflate, zlib(text)), (Coding::Deflate, deflate(text))]
        {
            let claimed = text.len() * 2 + DECODER;
            assert!((DECODER..claimed).contains(&least(&body, coding, text)), "{coding:?}");
        }
        // A window of 1 MiB, and up to 1 MiB of trees of each kind.
        assert!((1 << 20..5 << 20).contains(&least(&brotli(text), Coding::Brotli, text)));
        let twice = TEXT.repeat(2);
        assert!((16 << 20..17 << 20).contains(&least(&in_large_window(TEXT), Coding::Brotli, &twice)));
    }

    #[test]
    fn a_damaged_body_is_refused_or_decoded() {
        let body = brotli(&TEXT.repeat(100));
        for at in 0..body.len() {
            for bit in 0..8 {
                let mut damaged = body.clone();
                damaged[at] ^= 1 << bit;
                for most in [1 << 20, 64 << 20] {
                    let share = MEMORY.share(most, NetworkKey::default());
                    let _ = super::decoded(&damaged, Coding::Brotli, 8 << 10, share);
                }
            }
        }
    }
}
