//! Bodies without their content coding.

use std::borrow::Cow;
use std::io::Read;

use brotli_decompressor::Decompressor;
use crawlpike_core::Coding;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// The number of bytes that are decoded at once.
const STEP: usize = 16 << 10;

/// The body without its coding. `None` if it is not in this coding, or larger than `most` without it.
pub(crate) fn decoded(body: &[u8], coding: Coding, most: usize) -> Option<Cow<'_, [u8]>> {
    let decoded = match coding {
        Coding::Identity => return (body.len() <= most).then_some(Cow::Borrowed(body)),
        Coding::Gzip => read_all(MultiGzDecoder::new(body), most),
        Coding::Deflate if is_zlib(body) => read_all(ZlibDecoder::new(body), most),
        Coding::Deflate => read_all(DeflateDecoder::new(body), most),
        Coding::Brotli => read_all(Decompressor::new(body, STEP), most),
    };
    decoded.map(Cow::Owned)
}

/// Returns true if a body begins as zlib's format does (RFC 1950 2.2). Some servers send bare deflate instead.
fn is_zlib(body: &[u8]) -> bool {
    let Some([method, flags]) = body.first_chunk() else { return false };
    method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]) % 31 == 0
}

fn read_all(reader: impl Read, most: usize) -> Option<Vec<u8>> {
    let mut decoded = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(limit).read_to_end(&mut decoded).ok()?;
    (decoded.len() <= most).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

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
            assert_eq!(decoded(&body, coding, TEXT.len()).as_deref(), Some(TEXT), "{coding:?}");
            assert_eq!(decoded(&body, coding, TEXT.len() - 1), None, "{coding:?}");
            if coding != Coding::Identity {
                for end in 0..body.len() {
                    let cut = decoded(&body[..end], coding, TEXT.len());
                    assert!(cut.is_none_or(|cut| cut.len() < TEXT.len()), "{coding:?} cut at {end}");
                }
            }
        }
        for coding in [Coding::Gzip, Coding::Brotli] {
            assert_eq!(decoded(TEXT, coding, 1 << 20), None, "{coding:?}");
        }
    }

    #[test]
    fn a_bomb_costs_no_more_than_the_limit() {
        let zeros = vec![0; 4 << 20];
        for (coding, bomb) in [(Coding::Gzip, gzip(&zeros)), (Coding::Brotli, brotli(&zeros))] {
            assert!(bomb.len() < 64 << 10);
            assert_eq!(decoded(&bomb, coding, 64 << 10), None);
        }
    }
}
