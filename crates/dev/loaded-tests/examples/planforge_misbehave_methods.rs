planforge_plugin_sdk::export_bundled!(planforge_loaded_tests::misbehave_methods);
