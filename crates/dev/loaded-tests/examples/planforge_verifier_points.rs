planforge_plugin_sdk::export_bundled!(planforge_verifier_critique::points);
