//! `crawlpike sign`: keys, directories and signatures, for those who operate an agent.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use clap::builder::ValueParser;
use crawlpike_core::Scheme;
use crawlpike_core::sign::{
    Headers, PublicKey, Statement, key_directory, key_id, key_set_url, sign_directory, sign_request,
};
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, EncodePrivateKey, KeypairBytes};
use ed25519_dalek::{Signer, SigningKey};
use url::{Position, Url};

use crate::failure::{Failure, say};
use crate::random;
use crate::request::{DescribedRequest, HeaderName, Method, header};

/// A life that verifiers warn of, in seconds.
const LONG_LIFE: u32 = 24 * 60 * 60;

/// Sign the requests of an agent that you operate
///
/// Verifiers recognise your agent by its signatures, wherever it runs: HTTP message signatures (RFC 9421) with keys of Ed25519,
/// in the profile of web-bot-auth.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike sign key agent.pem
  crawlpike sign directory agent.pem >http-message-signatures-directory
      Publish the output at /.well-known/http-message-signatures-directory.
  crawlpike sign request --key agent.pem --directory https://agent.example https://example.com/ |
      curl -H @- https://example.com/")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Key(KeyArguments),
    Directory(DirectoryArguments),
    Request(RequestArguments),
}

/// Create a key
///
/// Writes a private key of Ed25519 to a new file that only you can read (PKCS #8, PEM), and prints its `keyid`. `openssl pkey`
/// reads the file.
#[derive(Debug, clap::Args)]
struct KeyArguments {
    /// The file to create
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Print the directory that publishes keys
///
/// Serve it at https://YOUR-AGENT/.well-known/http-message-signatures-directory, with the Content-Type
/// application/http-message-signatures-directory+json. To replace a key, publish the old one and the new one for a day.
#[derive(Debug, clap::Args)]
struct DirectoryArguments {
    /// The private keys
    #[arg(required = true, value_name = "FILE")]
    keys: Vec<PathBuf>,
    /// Instead of the directory, print the headers by which the server at this host proves that it has the first key
    #[arg(long, value_name = "HOST")]
    headers_for: Option<String>,
    /// The validity of these headers, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 7 * LONG_LIFE)]
    lifetime: u32,
}

/// Print the headers that sign a request
///
/// Prints one header a line, as `curl -H @-` reads them: Signature-Agent, Signature-Input and Signature.
#[derive(Debug, clap::Args)]
struct RequestArguments {
    /// The private key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The place at which the key is published: the URL of a set of keys, or an origin such as https://agent.example, which stands for its
    /// directory
    #[arg(long, value_name = "URL")]
    directory: String,
    /// Write the URL as it is given, for verifiers that know only drafts before httpsig-protocol-01, where an origin is named
    #[arg(long)]
    as_given: bool,
    /// The method of the request
    #[arg(long, default_value = "GET", value_parser = ValueParser::from(|text: &str| Method::try_from(text.to_owned())))]
    method: Method,
    /// A header of the request that `--cover` names; can be repeated
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = ValueParser::from(|line: &str| header(line.as_bytes())))]
    headers: Vec<(HeaderName, Vec<u8>)>,
    /// The components that the signature covers beside the directory, such as @authority, @method or @target-uri, the name of a
    /// header, or @query-param;name=NAME; can be repeated. @authority or @target-uri must be among them
    #[arg(long, value_name = "COMPONENT", default_values = ["@authority", "@method", "@path", "@query"])]
    cover: Vec<String>,
    /// The validity of the signature, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    lifetime: u32,
    /// When the signature is created, in seconds since the Unix epoch [default: now]
    #[arg(long, value_name = "TIME")]
    created: Option<i64>,
    /// The label of the signature
    #[arg(long, default_value = "sig1")]
    label: String,
    /// The URL of the request
    #[arg(value_parser = url_as_sent)]
    url: Url,
}

/// A URL that all clients send as it is written. Of `/a/%2e%2e/b`, or of characters that RFC 3986 does not allow in a query, some
/// send another spelling, so that a signature would hold for some of them only.
fn url_as_sent(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if Scheme::from_word(url.scheme()).is_none() || !url.has_host() {
        return Err("expected an http or https URL with a host".to_owned());
    }
    let sent = &url[Position::BeforePath..Position::AfterQuery];
    let given = text.split('#').next().unwrap_or_default();
    let (_, rest) = given.split_once("://").unwrap_or_default();
    let given = rest.find(['/', '?']).and_then(|start| rest.get(start..)).unwrap_or_default();
    let slash = if given.starts_with('/') { "" } else { "/" };
    if sent != format!("{slash}{given}") {
        let plain = &url[..Position::AfterQuery];
        return Err(format!(
            "clients differ in how they send its path or its query; write {plain}, here and in the request"
        ));
    }
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%[]".contains(byte);
    match sent.bytes().find(|byte| !is_plain(byte)) {
        None => Ok(url),
        Some(other) => Err(format!(
            "clients differ in how they send `{}`; write %{other:02X}, here and in the request",
            char::from(other)
        )),
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::Key(arguments) => create_key(&arguments.file)?,
        Command::Directory(arguments) => arguments.run()?,
        Command::Request(arguments) => arguments.run()?,
    }
    Ok(ExitCode::SUCCESS)
}

fn create_key(path: &Path) -> Result<(), Failure> {
    let seed = random::bytes().map_err(Failure::because)?;
    // Without its public half: openssl does not read the newer form with both.
    let pem = KeypairBytes { secret_key: seed, public_key: None }.to_pkcs8_pem(LineEnding::LF);
    let pem = pem.map_err(|error| Failure::because(format_args!("cannot write a key: {error}")))?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(pem.as_bytes()));
    written.map_err(|error| Failure::because(format_args!("cannot create {}: {error}", path.display())))?;
    writeln!(io::stdout(), "{}", key_id(&public(&SigningKey::from_bytes(&seed))))?;
    Ok(())
}

fn read_key(path: &Path) -> Result<SigningKey, Failure> {
    let name = path.display();
    let bytes = crawlpike_files::read_file(path)
        .map_err(|error| Failure::because(format_args!("cannot read {name}: {error}")))?;
    let pem = String::from_utf8(bytes).ok();
    let key = pem.and_then(|pem| SigningKey::from_pkcs8_pem(&pem).ok());
    key.ok_or_else(|| {
        Failure::because(format_args!(
            "{name} is not an Ed25519 private key (PKCS #8, PEM); `crawlpike sign key` creates one"
        ))
    })
}

fn public(key: &SigningKey) -> PublicKey {
    key.verifying_key().to_bytes()
}

fn print(headers: &Headers) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    for (name, value) in headers {
        writeln!(output, "{name}: {value}")?;
    }
    Ok(())
}

impl DirectoryArguments {
    fn run(&self) -> Result<(), Failure> {
        let keys = self.keys.iter().map(|path| read_key(path)).collect::<Result<Vec<_>, _>>()?;
        let publics: Vec<PublicKey> = keys.iter().map(public).collect();
        let directory = key_directory(&publics);
        let (Some(host), [key, ..], [public, ..]) = (&self.headers_for, &*keys, &*publics) else {
            io::stdout().write_all(directory.as_bytes())?;
            return Ok(());
        };
        let created = crawlpike_files::now();
        let expires = created.saturating_add(self.lifetime.into());
        let statement = Statement { label: "binding", key: public, created, expires, nonce: None };
        let signed = sign_directory(host, directory.as_bytes(), &statement, |base| key.sign(base).to_bytes());
        print(&signed.map_err(Failure::because)?)
    }
}

impl RequestArguments {
    fn run(&self) -> Result<(), Failure> {
        let key = read_key(&self.key)?;
        let url = &self.url;
        let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let authority = url[Position::BeforeHost..Position::AfterPort].as_bytes().to_vec();
        let target = url[Position::BeforePath..Position::AfterQuery].as_bytes().to_vec();
        let mut request = DescribedRequest::new(nobody, Some(authority), self.method.clone(), target);
        request.scheme = Scheme::from_word(url.scheme());
        for (name, value) in &self.headers {
            request.add(name, value);
        }
        if self.lifetime > LONG_LIFE {
            say(format_args!(
                "warning: whoever sees the request can send it again for {} s; verifiers recommend 24 h at most",
                self.lifetime
            ));
        }
        let nonce = base64::Engine::encode(
            &base64::prelude::BASE64_STANDARD,
            random::bytes::<16>().map_err(Failure::because)?,
        );
        let created = self.created.unwrap_or_else(crawlpike_files::now);
        let expires = created.saturating_add(self.lifetime.into());
        let public = public(&key);
        let statement = Statement { label: &self.label, key: &public, created, expires, nonce: Some(&nonce) };
        let components: Vec<&str> = self.cover.iter().map(String::as_str).collect();
        if !components.iter().any(|component| ["@authority", "@target-uri"].contains(component)) {
            let message =
                "--cover: a signature that does not cover the host proves nothing; add --cover @authority";
            return Err(Failure::because(message));
        }
        let key_set = key_set_url(&self.directory).ok_or_else(|| {
            Failure::because("--directory: expected an https URL, such as https://agent.example")
        })?;
        let directory = if self.as_given { &self.directory } else { &key_set };
        let signed =
            sign_request(&request, directory, &components, &statement, |base| key.sign(base).to_bytes());
        print(&signed.map_err(Failure::because)?)
    }
}
