//! Octets that are looked up and laid out for loops without branches.

/// True if an octet is one of some, by one look into a table: `is_in_table!(byte, each => each.is_ascii_digit())`.
///
/// The expression is evaluated by the compiler, for each octet.
macro_rules! is_in_table {
    ($byte:expr, $each:ident => $is_in:expr) => {{
        const TABLE: [bool; 256] = {
            let mut table = [false; 256];
            let (mut rest, mut $each): (&mut [bool], u8) = (&mut table, 0);
            while let Some((is_in, others)) = rest.split_first_mut() {
                *is_in = $is_in;
                (rest, $each) = (others, $each.wrapping_add(1));
            }
            table
        };
        TABLE.get(usize::from($byte)).is_some_and(|is_in| *is_in)
    }};
}

pub(crate) use is_in_table;

/// So many octets: the first of these, and then `others`.
pub(crate) fn filled_up<const SIZE: usize>(octets: &[u8], others: u8) -> [u8; SIZE] {
    let mut block = [others; SIZE];
    block.iter_mut().zip(octets).for_each(|(to, from)| *to = *from);
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_what_its_expression_says() {
        let is_digit = |byte: u8| is_in_table!(byte, each => each.is_ascii_digit());
        assert!((0..=0xFF_u8).all(|byte| is_digit(byte) == byte.is_ascii_digit()));
    }

    #[test]
    fn a_block_is_filled_up_or_cut() {
        assert_eq!(filled_up(b"ab", b' '), *b"ab  ");
        assert_eq!(filled_up(b"abcde", b' '), *b"abcd");
        assert_eq!(filled_up(b"", b'a'), *b"aaa");
    }
}
