planforge_plugin_sdk::export_bundled!(planforge_translator_direct::reading);
