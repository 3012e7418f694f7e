//! The categories of use, as data: none of this is settled, and another draft may change any row.
//!
//! Labels are those of draft-ietf-aipref-vocab-08 (section 6.1). `ai-use` is new there; -07 has the other two.

/// A category of use.
pub(crate) struct Category {
    /// Its label, which is compared octet by octet.
    pub(crate) label: &'static str,
    /// The name of the same in `Content-Signal` (draft-romm-aipref-contentsignals-00).
    pub(crate) signal: &'static str,
}

/// In the order in which statements are written.
pub(crate) const CATEGORIES: [Category; 3] = [
    Category { label: "train-ai", signal: "ai-train" },
    Category { label: "ai-use", signal: "ai-input" },
    Category { label: "search", signal: "search" },
];

/// Labels of earlier drafts. They mean nothing now, and none stands for another one.
pub(crate) const FORMER_LABELS: [(&str, &str); 8] = [
    ("tdm", "draft-ietf-aipref-vocab-01"),
    ("ai", "draft-ietf-aipref-vocab-01"),
    ("genai", "draft-ietf-aipref-vocab-01"),
    ("inference", "draft-ietf-aipref-vocab-01"),
    ("all", "draft-ietf-aipref-vocab-02"),
    ("train-genai", "draft-ietf-aipref-vocab-03"),
    ("bots", "draft-ietf-aipref-vocab-04"),
    ("ai-output", "draft-ietf-aipref-vocab-04"),
];

/// The name in `Content-Signal` of the manner of use, which no category stands for, and its values.
pub(crate) const SIGNAL_USE: (&str, [&str; 3]) = ("use", ["immediate", "reference", "full"]);

/// The categories of purposes, by their labels. A purpose falls into a category only as far as all that it is for is that use;
/// of a purpose with several categories, each must be disallowed. Any other purpose has no category.
///
/// | purpose | why |
/// |---|---|
/// | `ai-training` | the catalog's word for crawlers that gather what models are trained with; vocab-08, 4.1 |
/// | `search` | the catalog's word for crawlers of search engines that link to what they show; vocab-08, 4.3 |
/// | `ai-search` | the catalog's word for crawlers of engines that answer by a model and link to their sources: vocab-08, 4.2 and 4.3 |
/// | `train-ai`, `ai-use` | a client may declare a label itself |
/// | `ai-train`, `ai-input` | or the name in `Content-Signal` |
///
/// Not here, because they may be something else: `user-fetch` (whether a page that the user names is "directly provided" is
/// open, see issue 249 of the drafts), `dataset` (not all that becomes of a data set is training), `archive`, `seo`, `tool`,
/// `preview`, `monitoring`.
pub(crate) const PURPOSES: [(&str, &[&str]); 7] = [
    ("ai-training", &["train-ai"]),
    ("search", &["search"]),
    ("ai-search", &["ai-use", "search"]),
    ("train-ai", &["train-ai"]),
    ("ai-use", &["ai-use"]),
    ("ai-train", &["train-ai"]),
    ("ai-input", &["ai-use"]),
];
