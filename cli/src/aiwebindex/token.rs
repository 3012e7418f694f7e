//! `crawlpike aiwebindex token`: issues the token that proves the ownership of a domain.

use std::io::{self, Write};
use std::process::ExitCode;

use super::PROOF;
use super::verify::Domain;
use crate::failure::Failure;
use crate::random;

/// The number of random bytes of a token: 128 bits.
const BYTES: usize = 16;

/// Issue a token for the verification of a domain
///
/// It has 128 random bits of the system, in hexadecimal. Issue one for each domain: whoever knows a token of one domain could
/// use it for another.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike aiwebindex token
  crawlpike aiwebindex token example.com
      Print where to publish it, too.")]
pub(super) struct Arguments {
    /// The domain that it is for
    domain: Option<Domain>,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let bytes: [u8; BYTES] = random::bytes().map_err(Failure::because)?;
    let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut output = io::stdout().lock();
    match &arguments.domain {
        None => writeln!(output, "{token}")?,
        Some(domain) => {
            writeln!(output, "token  {token}")?;
            writeln!(output, "DNS    {}. TXT \"{PROOF}{token}\"", domain.record())?;
            writeln!(output, "HTTPS  {} with the line {PROOF}{token}", domain.file())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
