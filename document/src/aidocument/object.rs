//! The objects of a document that is read: their members by name and type, with their paths for messages.

use std::fmt::{self, Display};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The reason why bytes are not a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    message: String,
    /// Line and column, from 1, if the bytes are not JSON.
    pub position: Option<(u32, u32)>,
}

impl Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        let message = error.to_string();
        // The place has a field of its own.
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let position = (number(error.line()), number(error.column()));
        Self { message, position: (error.line() > 0).then_some(position) }
    }
}

/// An error in a document that is JSON.
pub(super) fn error(message: impl Into<String>) -> ReadError {
    ReadError { message: message.into(), position: None }
}

/// Messages about parts that the new document lacks.
#[derive(Debug, Default)]
pub(super) struct Warnings(pub(super) Vec<String>);

impl Warnings {
    pub(super) fn leave_out(&mut self, path: &str, reason: impl Display) {
        self.0.push(format!("`{path}`: {reason}; left out"));
    }
}

/// An object whose members are taken one by one. A member that is null is absent.
#[derive(Debug)]
pub(super) struct Object {
    path: String,
    members: Map<String, Value>,
}

impl Object {
    /// The object that a value is; `path` is empty for the document.
    pub(super) fn of(path: String, value: Value) -> Result<Self, ReadError> {
        match value {
            Value::Object(members) => Ok(Self { path, members }),
            other if path.is_empty() => Err(error(format!("expected an object, found {}", kind(&other)))),
            other => Err(error(format!("`{path}`: expected an object, found {}", kind(&other)))),
        }
    }

    /// The path of a member.
    pub(super) fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.members.get(key).is_some_and(|value| !value.is_null())
    }

    /// An error about a member.
    pub(super) fn error(&self, key: &str, reason: impl Display) -> ReadError {
        error(format!("`{}`: {reason}", self.path(key)))
    }

    /// The value of a member that must be there.
    pub(super) fn required<T>(&self, key: &str, value: Option<T>) -> Result<T, ReadError> {
        value.ok_or_else(|| self.error(key, "it is missing"))
    }

    /// A member of one type.
    fn take<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: impl FnOnce(Value) -> Result<T, Value>,
    ) -> Result<Option<T>, ReadError> {
        let Some(value) = self.members.remove(key).filter(|value| !value.is_null()) else { return Ok(None) };
        read(value)
            .map(Some)
            .map_err(|value| self.error(key, format_args!("expected {expected}, found {}", kind(&value))))
    }

    pub(super) fn string(&mut self, key: &str) -> Result<Option<String>, ReadError> {
        self.take(key, "a string", |value| match value {
            Value::String(text) => Ok(text),
            other => Err(other),
        })
    }

    /// A text that says something; an empty one is absent.
    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, ReadError> {
        Ok(self.string(key)?.filter(|text| !text.is_empty()))
    }

    /// A text that `read` makes a value of; left out if it cannot.
    pub(super) fn text_as<T>(
        &mut self,
        key: &str,
        expected: &str,
        warnings: &mut Warnings,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ReadError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let value = read(&text);
        if value.is_none() {
            warnings.leave_out(&self.path(key), format_args!("{text:?} is not {expected}"));
        }
        Ok(value)
    }

    /// A word of an enumeration; another one is an error.
    pub(super) fn word<T: DeserializeOwned>(&mut self, key: &str, expected: &str) -> Result<T, ReadError> {
        let text = self.string(key)?;
        let text = self.required(key, text)?;
        word(&text).ok_or_else(|| self.error(key, format_args!("expected {expected}, found {text:?}")))
    }

    pub(super) fn boolean(&mut self, key: &str) -> Result<Option<bool>, ReadError> {
        self.take(key, "true or false", |value| value.as_bool().ok_or(value))
    }

    pub(super) fn number(&mut self, key: &str) -> Result<Option<f64>, ReadError> {
        self.take(key, "a number", |value| value.as_f64().ok_or(value))
    }

    /// A whole number in a range; left out if it is another one.
    pub(super) fn whole(
        &mut self,
        key: &str,
        range: [u32; 2],
        warnings: &mut Warnings,
    ) -> Result<Option<u32>, ReadError> {
        let Some(number) = self.number(key)? else { return Ok(None) };
        let whole = whole(number, range);
        if whole.is_none() {
            let [least, most] = range;
            let reason = format_args!("{number} is not a whole number from {least} to {most}");
            warnings.leave_out(&self.path(key), reason);
        }
        Ok(whole)
    }

    pub(super) fn members(&mut self, key: &str) -> Result<Option<Map<String, Value>>, ReadError> {
        self.take(key, "an object", |value| match value {
            Value::Object(members) => Ok(members),
            other => Err(other),
        })
    }

    /// A member that is an object; without members if it is absent.
    pub(super) fn object(&mut self, key: &str) -> Result<Self, ReadError> {
        let members = self.members(key)?.unwrap_or_default();
        Ok(Self { path: self.path(key), members })
    }

    /// The items of an array, each with its path.
    pub(super) fn items(
        &mut self,
        key: &str,
    ) -> Result<impl Iterator<Item = (String, Value)> + use<>, ReadError> {
        let items = self.take(key, "an array", |value| match value {
            Value::Array(items) => Ok(items),
            other => Err(other),
        })?;
        let path = self.path(key);
        let items = items.unwrap_or_default().into_iter().enumerate();
        Ok(items.map(move |(number, value)| (format!("{path}[{number}]"), value)))
    }

    /// Takes a member that has no place in a new document.
    pub(super) fn ignore(&mut self, key: &str) {
        self.members.remove(key);
    }

    /// Warns of members that nobody took.
    pub(super) fn end(self, warnings: &mut Warnings) {
        for (key, _) in self.members.iter().filter(|(_, value)| !value.is_null()) {
            warnings.leave_out(&self.path(key), "unknown key");
        }
    }
}

/// A word of an enumeration.
pub(super) fn word<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_value(Value::from(text)).ok()
}

/// The whole number in a range that a number is.
pub(super) fn whole(number: f64, [least, most]: [u32; 2]) -> Option<u32> {
    let is_in_range = number.fract() == 0.0 && (f64::from(least)..=f64::from(most)).contains(&number);
    is_in_range.then_some(number as u32)
}

/// The type of a value, for messages.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
