//! Crawlpike as a dynamic module of nginx: directives, variables, the access phase, and the headers of responses.
//!
//! No policy belongs here: this crate asks nginx for facts about a request, and carries out the decision of `crawlpike-core`.
//! From the bottom up: [`nginx`] has the bindings, with everything that is `unsafe`; [`conf`] has the values of the directives;
//! [`gate`] asks for decisions; [`handlers`] connects all to nginx. `gate/files` reads and watches the files for this module, and
//! `gate/page` makes documents of pages; the gates for Envoy are `envoy-module` and `envoy-filter`.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

mod conf;
mod counters;
mod directives;
mod documents;
mod feed_states;
mod gate;
mod handlers;
mod metrics;
mod module;
mod names;
mod nginx;
mod refresh;
mod response;
mod ruleset;
mod state;
mod variables;

// nginx runs filters in the reverse order of its list of modules. Before all of these in the list, the module sees the headers
// that `add_header` adds, and pages as SSI and `sub_filter` have made them. Those that compress are before it.
nginx::http_module! { ngx_http_crawlpike_module: crate::module::Crawlpike, before [
    "ngx_http_postpone_filter_module",
    "ngx_http_ssi_filter_module",
    "ngx_http_charset_filter_module",
    "ngx_http_xslt_filter_module",
    "ngx_http_image_filter_module",
    "ngx_http_sub_filter_module",
    "ngx_http_addition_filter_module",
    "ngx_http_gunzip_filter_module",
    "ngx_http_userid_filter_module",
    "ngx_http_headers_filter_module",
] }
