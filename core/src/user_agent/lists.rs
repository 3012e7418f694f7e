//! The words that distinguish people's browsers from automation, as short lists that a reader can judge line by line.

use super::phrases::Phrases;

/// The meaning of a name for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// It is automation.
    Automation,
    /// The text that follows may be the address of its operator.
    Address,
    /// `(compatible; ExampleBot/1.0)`. In a browser's User-Agent this word comes first, if at all.
    Compatible,
    /// The framework of many desktop applications.
    Electron,
    /// A code editor that runs on this framework. Its requests serve a coding agent, not a reader.
    Editor,
}

/// The ends of names of automation: `Applebot`, `My-Crawler`. Other words (`scan`, `proxy`, `monitor`, `feed`) are in
/// the names of people's applications, too.
pub(super) const ENDINGS: &[&str] = &["bot", "crawler", "spider"];

/// The number of bytes of the shortest of [`ENDINGS`].
pub(super) const SHORTEST_ENDING: usize = "bot".len();

/// Names that end so and are people's: a brand of phones.
pub(super) const PEOPLES_NAMES: &[&str] = &["cubot"];

/// Names that say something of the client. If an agent has the same token, the name claims that agent.
pub(super) const SIGNS: &[(Sign, &[&str])] = &[
    (Sign::Address, &["http", "https"]),
    (Sign::Compatible, &["compatible"]),
    (Sign::Electron, &["Electron"]),
    (Sign::Editor, &["Code", "Cursor", "Windsurf"]),
    (Sign::Automation, NAMES),
];

/// Whole names that automation adds to a browser's User-Agent.
const NAMES: &[&str] = &[
    // Browsers that nobody looks at, and programs that drive browsers.
    "Headless",
    "HeadlessChrome",
    "HeadlessChromium",
    "HeadlessEdg",
    "HeadlessFirefox",
    "HeadlessShell",
    "PhantomJS",
    "SlimerJS",
    "CasperJS",
    "HtmlUnit",
    "jsdom",
    "Selenium",
    "WebDriver",
    "Puppeteer",
    "Playwright",
    "Cypress",
    "Prerender",
    "Rendertron",
    "wkhtmltopdf",
    "wkhtmltoimage",
    // Services that measure, test and watch sites.
    "Lighthouse",
    "Chrome-Lighthouse",
    "GTmetrix",
    "PTST",
    "PingdomTMS",
    "PingdomPageSpeed",
    "YottaaMonitor",
    "StatusCake",
    "Site24x7",
    "AppInsights",
    "Catchpoint",
    "RuxitSynthetic",
    "DatadogSynthetics",
    "CloudflareDiagnostics",
    "CloudflareObservatory",
    "Ghost Inspector",
    "Functionize",
    "TagInspector",
    "yunjiankong",
    "DMBrowser",
    "DMBrowser-UV",
    "DMBrowser-BV",
    "iplabel",
    // Security and link checks, search engine optimisation, archives.
    "Hardenize",
    "SecurityHeaders",
    "ProxyChecker",
    "Assetnote",
    "Siteimprove",
    "LinkTiger",
    "Luminator-robots",
    "Readable",
    "Collapsify",
    "MarketGoo",
    "KarnoProspectingStudio",
    "Datanyze",
    "Impact.com Agent",
    "ips-agent",
    "adbeat.com",
    "ducks.party",
    "inspici.com",
    // Previews, feeds, and proxies that fetch for many.
    "BingPreview",
    "Google Favicon",
    "GoogleImageProxy",
    "Google-Ads-Conversions",
    "google_partner_monitoring",
    "SkypeUriPreview",
    "Miniature.io",
    "NewsBlur",
    "NewsNow",
    "feeder.co",
    "PS_Daily",
    "fwdcdn.com",
    "baidu Transcoder",
    "Sparkler",
    "Nutch-1",
    "Nutch-2",
    // Daum's crawler is an "MSIE or Firefox mutant".
    "mutant",
    "Mixnode",
    "Exabot-Thumbnails",
    // Agents that act for somebody.
    "CybaaAgent",
    "Devin",
    "Manus-User",
    // The header's name in its value is a mistake that no browser makes.
    "User-Agent",
];

/// The words that follow `http` in people's browsers. Some makers of browsers, or of a component for browsers, put
/// their own address into the User-Agent.
pub(super) const PEOPLES_ADDRESSES: &[&str] =
    &["://bsalsa.com", "://www.bsalsa.com", "://www.QtWeb.net", "://www.avantbrowser.com"];

/// Engines and browsers, one of which follows `Mozilla/` in a browser's User-Agent.
pub(super) static ENGINES: Phrases<37> = Phrases::new([
    "AppleWebKit",
    "Gecko",
    "KHTML",
    "Trident/",
    "MSIE ",
    "MSPIE ",
    "Presto/",
    "Opera",
    "Goanna/",
    "Clecko/",
    "Servo/",
    "WebKit/",
    "Chrome/",
    "Firefox/",
    "LibWeb",
    "Ladybird/",
    "jig browser",
    "NetFront",
    "IEMobile",
    "Konqueror",
    "Dillo",
    "NetSurf",
    "iCab",
    "OmniWeb",
    "NetPositive",
    "AmigaVoyager",
    "IBrowse",
    "AvantGo",
    "OffByOne",
    "Oregano",
    "Charon;",
    "Treco/",
    "Kindle/",
    "Roku;",
    "ANTGalio/",
    "Polaris ",
    "KUN/",
]);

/// Devices whose built-in browsers name no engine.
pub(super) static DEVICES: Phrases<13> = Phrases::new([
    "PlayStation",
    "Nintendo",
    "BlackBerry",
    "iPhone",
    "iPad",
    "iPod",
    "Android",
    "Symbian",
    "MIDP-",
    "SMART-TV",
    "PalmOS",
    "Polaris",
    "BREW",
]);

/// Platforms of the browsers that sent `Mozilla/` before engines had names.
pub(super) static NETSCAPE_PLATFORMS: Phrases<5> = Phrases::new(["Win", "X11", "Mac", "OS/2", "Amiga"]);

/// The beginnings of User-Agents of browsers that do not send `Mozilla/`: text browsers, those of rare systems and of
/// television sets, and Safari's own requests for icons.
pub(super) static OTHER_BROWSERS: Phrases<64> = Phrases::new([
    "Opera/",
    "Lynx/",
    "Links (",
    "ELinks",
    "w3m/",
    "edbrowse/",
    "chawan",
    "Emacs-w3m/",
    "Emacs-EWW",
    "URL/Emacs",
    "Offpunk",
    "Lagrange/",
    "browsh",
    "Dillo/",
    "NetSurf/",
    "NCSA_Mosaic",
    "NCSA Mosaic",
    "VMS_Mosaic/",
    "AlohaBrowser",
    "Amiga-AWeb/",
    "AmigaVoyager/",
    "IBrowse/",
    "iCab/",
    "OmniWeb",
    "NetPositive/",
    "HotJava/",
    "Contiki/",
    "retawq/",
    "amaya/",
    "Uzbl",
    "Midori ",
    "Firefox ",
    "BonEcho ",
    "Ninetails/",
    "Biyubi/",
    "BriskBard/",
    "Xiino/",
    "xChaos_Arachne/",
    "Microsoft Pocket Internet Explorer/",
    "UCWEB/",
    "UCBrowser",
    "WAP Browser",
    "HbbTV/",
    "Sraf/",
    "Roku",
    "Safari/",
    "MobileSafari/",
    "Safari5",
    "ArcMobile",
    "DDG-Android-",
    "ddg_android/",
    "DuckDuckGo/",
    "NetworkingExtension/",
    "com.apple.WebKit.Networking/",
    "Normalized iP",
    "GoogleEarth/",
    "GOGGalaxyClient/",
    "XXXAndroidApp/",
    // Phones and tablets that send nothing but their own name, or Android's system comment.
    "iPhone",
    "iPad",
    "iPod",
    "Android ",
    "server-bag [",
    "2.1.0 (Linux; U; Android ",
]);

/// Engines, and other signs of phones and television sets, in User-Agents that do not begin with `Mozilla/`.
pub(super) static OTHER_ENGINES: Phrases<28> = Phrases::new([
    "AppleWebKit",
    "Gecko/",
    "Trident/",
    "Opera Mobi",
    "OMI/",
    "SmartTV",
    "HbbTV/",
    "MRE/",
    "WAP/",
    "Obigo",
    "Teleca",
    "Mosaic",
    "UCWEB",
    "Palmscape",
    "WebKit/",
    "Presto/",
    "Opera Mini/",
    "MIDP-",
    "CLDC-",
    "UP.Link",
    "DoCoMo/",
    "KDDI-",
    "J-PHONE/",
    "BlackBerry",
    "IEMobile",
    "NetFront/",
    "Bunjalloo/",
    "QtWebKit/",
]);
