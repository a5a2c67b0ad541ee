planforge_plugin_sdk::export_bundled!(planforge_provider_services::gemini);
