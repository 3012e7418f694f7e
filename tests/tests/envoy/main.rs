//! Behaviour that only a running Envoy can show. The decisions themselves are in the table of cases.

/// Runs each of these tests with the Wasm filter, and with the native module.
macro_rules! for_both_gates {
    ($($test:ident),+ $(,)?) => {
        mod wasm {
            $(#[test]
            fn $test() {
                super::$test(crawlpike_tests::envoy::Filter::Wasm);
            })+
        }

        mod native {
            $(#[test]
            fn $test() {
                super::$test(crawlpike_tests::envoy::Filter::Native);
            })+
        }
    };
}

mod addresses;
mod binary;
mod compose;
mod damaged;
mod discovery;
mod documents;
mod examples;
mod filter_state;
mod host_calls;
mod image;
mod manifests;
mod metrics;
mod name_services;
mod names;
mod native;
mod protocols;
mod redirects;
mod refusals;
mod requests;
mod robots_tag;
mod served;
mod swarms;
mod trusted_hops;
mod tunnels;
mod update;
mod watch;
mod workers;
