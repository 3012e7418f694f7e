//! Facts about the client of any request, people included, by which limiters can count and logs can tell apart.
//!
//! Nothing here is a verdict, and [`decide`](crate::decide()) is below this module, so it cannot read it.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::net::IpAddr;

use serde::{Serialize, Serializer};

use crate::config::{CrowdPart, Fact};
use crate::decide::decision::Decision;
use crate::decide::facts::Facts;
use crate::feed::AsKind;
use crate::identity::Identity;
use crate::json::typed::json_words;
use crate::networks::{ClientNetwork, SystemInfo};
use crate::path::request::RequestTarget;
use crate::reason::Reason;
use crate::request::{Request, Scheme};
use crate::ruleset::data::Ruleset;
use crate::ruleset::sites::Site;
use crate::user_agent::{Speaker, sends_fetch_mode};

json_words! {
    /// The consistency of what a client sends with the browser that its User-Agent names.
    pub enum Consistency {
        /// It says how it fetches, as that browser does.
        Consistent = "consistent",
        /// It does not, although that browser does.
        Inconsistent = "inconsistent",
        /// Nothing is known of that browser, or it is none.
        Unknown = "unknown",
    }
}

/// The facts about a client: serialised, they are `facts` of the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientFacts<'r> {
    /// The network of its address.
    #[serde(serialize_with = "as_text")]
    pub network: Option<ClientNetwork>,
    /// The number of the autonomous system that announces its address.
    pub asn: Option<u32>,
    /// The name of that system: printable, without quotes and backslashes.
    pub as_name: Option<&'r str>,
    /// The kind of that system.
    pub as_kind: Option<AsKind>,
    /// True if it asks for a path that costs the site much.
    pub costly: bool,
    /// The consistency of what it sends.
    pub browser: Consistency,
    /// The fingerprint of its TLS, as the server in front gives it.
    pub fingerprint: Option<String>,
    /// The key by which a limiter counts it; `None`: not at all.
    pub crowd_key: Option<String>,
}

/// A request behind a pointer, so that the code here is compiled once and not for each gate.
trait AnyRequest {
    fn address(&self) -> Option<IpAddr>;
    fn scheme(&self) -> Option<Scheme>;
    fn method(&self) -> &[u8];
    fn path(&self) -> &[u8];
    fn user_agent(&self) -> Option<&[u8]>;
    fn header<'r>(&'r self, name: &str) -> Option<&'r [u8]>;
}

impl<R: Request> AnyRequest for R {
    fn address(&self) -> Option<IpAddr> {
        Request::address(self)
    }

    fn scheme(&self) -> Option<Scheme> {
        Request::scheme(self)
    }

    fn method(&self) -> &[u8] {
        Request::method(self)
    }

    fn path(&self) -> &[u8] {
        Request::path(self)
    }

    fn user_agent(&self) -> Option<&[u8]> {
        Request::user_agent(self)
    }

    fn header<'r>(&'r self, name: &str) -> Option<&'r [u8]> {
        Request::header(self, name)
    }
}

fn as_text<S: Serializer>(network: &Option<ClientNetwork>, serializer: S) -> Result<S::Ok, S::Error> {
    network.map(|network| network.to_string()).serialize(serializer)
}

impl Ruleset {
    /// All facts about the client of a request, with the decision about it.
    pub fn client_facts<'r>(&'r self, decision: &Decision, request: &impl Request) -> ClientFacts<'r> {
        let system = Request::address(request).and_then(|address| self.system_of(address));
        ClientFacts {
            network: Request::address(request).map(|address| self.network_of(address)),
            asn: system.map(|system| system.asn),
            as_name: system.and_then(|system| system.name),
            as_kind: system.and_then(|system| system.kind),
            costly: self.is_costly(decision, request),
            browser: self.consistency(request),
            fingerprint: self.fingerprint(request),
            crowd_key: self.crowd_key(decision, request),
        }
    }

    /// The facts that Envoy's filter state is to show, by name: of a person, those of the client alone.
    pub fn shown_facts(&self, decision: &Decision, request: &impl Request) -> Box<[(&'static str, String)]> {
        // Only these facts may include the purpose and the usage, for which the core reads the request once more.
        let facts = match decision.identity {
            Identity::None => None,
            _ if self.filter_state(decision).contains(&Fact::Usage) => {
                Some(self.describe_with_usage(decision, request))
            }
            _ => Some(self.describe(decision, request)),
        };
        self.shown(facts.as_ref(), decision, request)
    }

    fn shown(
        &self,
        facts: Option<&Facts<'_>>,
        decision: &Decision,
        request: &dyn AnyRequest,
    ) -> Box<[(&'static str, String)]> {
        let text = |fact: &Fact| match fact.is_of_client() {
            true => self.fact(*fact, decision, request),
            false => facts?.text(*fact),
        };
        let asked = self.filter_state(decision).iter();
        asked.filter_map(|fact| Some((fact.as_str(), text(fact)?.into_owned()))).collect()
    }

    /// One of these facts as a text, without what the others take. `None` where it is absent.
    pub fn client_fact<'r>(
        &'r self,
        fact: Fact,
        decision: &Decision,
        request: &impl Request,
    ) -> Option<Cow<'r, str>> {
        self.fact(fact, decision, request)
    }

    fn fact<'r>(&'r self, fact: Fact, decision: &Decision, request: &dyn AnyRequest) -> Option<Cow<'r, str>> {
        let system = || self.system_of(request.address()?);
        match fact {
            Fact::Network => Some(self.network_of(request.address()?).to_string().into()),
            Fact::Asn => Some(system()?.asn.to_string().into()),
            Fact::AsName => system()?.name.map(Into::into),
            Fact::AsKind => system()?.kind.map(|kind| kind.as_str().into()),
            Fact::Costly => self.is_costly(decision, request).then_some("1".into()),
            Fact::Browser => Some(self.consistency(request).as_str().into()),
            Fact::Fingerprint => self.fingerprint(request).map(Into::into),
            Fact::CrowdKey => self.crowd_key(decision, request).map(Into::into),
            _ => None,
        }
    }

    /// The network of an address.
    pub fn network_of(&self, address: IpAddr) -> ClientNetwork {
        ClientNetwork::of(self.untranslated(address), self.client.bits)
    }

    /// The autonomous system that announces an address.
    pub fn system_of(&self, address: IpAddr) -> Option<SystemInfo<'_>> {
        self.client.systems.find(self.untranslated(address))
    }

    /// The site of a decision, if it has costly paths.
    fn site_with_costs(&self, decision: &Decision) -> Option<&Site> {
        let site = decision.site.and_then(|id| self.sites.get(id));
        site.filter(|site| site.costly.is_some())
    }

    fn is_costly(&self, decision: &Decision, request: &dyn AnyRequest) -> bool {
        let Some(costly) = self.site_with_costs(decision).and_then(|site| site.costly.as_ref()) else {
            return false;
        };
        let target = RequestTarget::new(request.path());
        target.strictest(|path| costly.decide(path).is_some(), |is_costly| *is_costly, true).0
    }

    /// Only pages and what belongs to them: of other requests, browsers differ in what they say.
    fn consistency(&self, request: &dyn AnyRequest) -> Consistency {
        let is_usual = matches!(request.method(), b"GET" | b"HEAD" | b"POST")
            && request.scheme() == Some(Scheme::Https)
            && request.header("upgrade").is_none();
        let user_agent = request.user_agent().filter(|user_agent| is_usual && sends_fetch_mode(user_agent));
        if user_agent.is_none() || self.claims.speaker(user_agent) != Speaker::Browser {
            return Consistency::Unknown;
        }
        // Chrome sends its reports (the Reporting API, network errors) past the code that says how it fetches.
        let is_report =
            || request.header("content-type").is_some_and(|of| of.starts_with(b"application/reports+json"));
        match request.header("sec-fetch-mode") {
            Some(_) => Consistency::Consistent,
            None if is_report() => Consistency::Unknown,
            None => Consistency::Inconsistent,
        }
    }

    fn fingerprint(&self, request: &dyn AnyRequest) -> Option<String> {
        const LONGEST: usize = 128;
        let value = request.header(self.client.fingerprint_header.as_deref()?)?;
        let is_plain = !value.is_empty() && value.len() <= LONGEST && value.iter().all(u8::is_ascii_graphic);
        core::str::from_utf8(value).ok().filter(|_| is_plain).map(Into::into)
    }

    /// The parts of the key, with `-` for one that is absent. Where all are, nobody is counted, and so it is for verified agents,
    /// for exempt addresses, where Crawlpike is off, and on paths that are not costly where some are.
    fn crowd_key(&self, decision: &Decision, request: &dyn AnyRequest) -> Option<String> {
        let is_known = decision.identity == Identity::Verified || decision.reason == Reason::Exempt;
        // Reading the path costs more than all the rest.
        let is_free = || self.site_with_costs(decision).is_some() && !self.is_costly(decision, request);
        if is_known || decision.ignored || is_free() {
            return None;
        }
        let (mut key, mut is_absent) = (String::new(), true);
        for part in &self.client.crowd_key {
            let text = self.fact(part.fact(), decision, request);
            is_absent &= text.is_none();
            if !key.is_empty() {
                key.push(' ');
            }
            key.push_str(text.as_deref().unwrap_or("-"));
        }
        (!is_absent).then_some(key)
    }
}

impl CrowdPart {
    fn fact(self) -> Fact {
        match self {
            Self::Network => Fact::Network,
            Self::Asn => Fact::Asn,
            Self::AsKind => Fact::AsKind,
            Self::Browser => Fact::Browser,
            Self::Fingerprint => Fact::Fingerprint,
        }
    }
}
