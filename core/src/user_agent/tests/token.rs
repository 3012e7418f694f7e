use crate::user_agent::Claims;
use crate::user_agent::claims::ClaimsError;
use crate::user_agent::token::{TokenError, check_token};

#[test]
fn absurd_tokens_are_refused() {
    let refused = |token: &str| check_token(token).unwrap_err();
    assert_eq!(refused(""), TokenError::Empty);
    assert_eq!(refused(&"a".repeat(65)), TokenError::TooLong);
    assert_eq!(refused("a\tb"), TokenError::Character('\t'));
    assert_eq!(refused("a\"b"), TokenError::Character('"'));
    assert_eq!(refused("żuk"), TokenError::Character('ż'));
    assert_eq!(refused(" a"), TokenError::Space);
    assert_eq!(refused("*"), TokenError::NoWord);
    assert_eq!(check_token(&"a".repeat(64)), Ok(()));
    assert_eq!(Claims::new(["a", "b\n"]).unwrap_err(), ClaimsError::Token(1, TokenError::Character('\n')));
    assert_eq!(Claims::new(["a", "b", "A"]).unwrap_err(), ClaimsError::Duplicate(2));
}
