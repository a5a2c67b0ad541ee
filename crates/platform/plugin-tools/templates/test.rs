//! The plugin linked in and loaded from its library.

use planforge_plugin_host::Instance;
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::testing::TestHost;
use planforge_plugin_host::conformance::{both_ways, conformance};

#[test]
fn it_does_what_every_plugin_must() {
    assert_eq!(conformance(&{{CRATE}}::PLANFORGE_PLUGIN), Ok(()));
}

fn instances() -> [Instance; 2] {
    both_ways(&{{CRATE}}::PLANFORGE_PLUGIN).unwrap().create(&CreateRequest::default()).unwrap()
}

