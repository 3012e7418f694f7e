//! The formats that lines are read in.

use super::builder::Fault;
use super::envoy::{self, EnvoyFormat};
use super::json::Keys;
use super::names::{self, Field, Meaning};
use super::nginx;
use super::record::Record;
use super::template::Template;

/// The variables that an nginx format must have.
const NGINX: [&str; 3] = ["$remote_addr", "$http_user_agent", "$request"];
/// The commands that an Envoy format must have.
const ENVOY: [&str; 3] = [
    "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
    "%REQ(USER-AGENT)%",
    "%REQ(:METHOD)% with %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%",
];

/// Reads lines of one format, or of several.
#[derive(Debug)]
pub struct LineReader {
    formats: Vec<Format>,
}

#[derive(Debug)]
enum Format {
    Template(Template),
    Json(Keys),
    /// Chosen by the first byte of a line: nginx's `combined` (with or without more behind it), Envoy's default, or JSON.
    Detected {
        combined: Template,
        envoy: Template,
        json: Keys,
    },
}

impl LineReader {
    /// A reader of these formats only, each line in the first one that fits: nginx's `log_format`s, then Envoy's format
    /// strings. Without any, a reader of the formats that need no description.
    ///
    /// # Errors
    ///
    /// If a format is invalid, or lacks what no report can do without.
    pub fn of(nginx: &[String], envoy: &[String], purpose_header: &str) -> Result<Self, String> {
        let mut formats = Vec::new();
        for text in nginx {
            let template = nginx::template(text, purpose_header)?;
            check(template.meanings(), NGINX)?;
            formats.push(Format::Template(template));
        }
        for text in envoy {
            formats.push(match envoy::format(text, purpose_header)? {
                EnvoyFormat::Text(template) => {
                    check(template.meanings(), ENVOY)?;
                    Format::Template(template)
                }
                EnvoyFormat::Json(keys) => {
                    if let Keys::Given(keys) = &keys {
                        check(keys.iter().map(|(_, meaning)| *meaning), ENVOY)?;
                    }
                    Format::Json(keys)
                }
            });
        }
        if formats.is_empty() {
            formats.push(Format::Detected {
                combined: nginx::open_template(nginx::COMBINED)?,
                envoy: envoy::template(envoy::DEFAULT, purpose_header, true)?,
                json: Keys::Known(purpose_header.to_string()),
            });
        }
        Ok(Self { formats })
    }

    /// The request that a line is about. The line is without its end.
    ///
    /// # Errors
    ///
    /// If it is about none.
    pub fn read<'l>(&self, line: &'l [u8]) -> Result<Record<'l>, Fault> {
        let mut fault = Fault::Unreadable;
        for format in &self.formats {
            match format.read(line) {
                Ok(record) => return Ok(record),
                Err(Fault::NoRequest) => fault = Fault::NoRequest,
                Err(_) => {}
            }
        }
        Err(fault)
    }
}

impl Format {
    fn read<'l>(&self, line: &'l [u8]) -> Result<Record<'l>, Fault> {
        match self {
            Self::Template(template) => template.read(line),
            Self::Json(keys) => keys.read(line),
            Self::Detected { combined, envoy, json } => match line.first() {
                Some(b'{') => json.read(line),
                Some(b'[') => envoy.read(line),
                _ => combined.read(line),
            },
        }
    }
}

/// Refuses a format that lacks a required field. `names` are those of the address, the User-Agent and the
/// request.
fn check(meanings: impl Iterator<Item = Meaning>, names: [&str; 3]) -> Result<(), String> {
    let fields: Vec<Field> = meanings.map(|(field, _)| field).collect();
    let [address, user_agent, request] = names;
    let name = match names::lacking(|field| fields.contains(&field)) {
        None => return Ok(()),
        Some(Field::Address) => address,
        Some(Field::UserAgent) => user_agent,
        Some(_) => request,
    };
    Err(format!("the format lacks {name}; without it, no request can be judged"))
}
