//! Numbers for tests with input that nobody has chosen.

/// A function that draws a number below a bound: the same ones each time (a linear congruential generator).
pub(crate) fn draws() -> impl FnMut(usize) -> usize {
    let mut state = 1_u64;
    move |bound| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % bound
    }
}
