planforge_plugin_sdk::export_bundled!(planforge_environment_pddl);
