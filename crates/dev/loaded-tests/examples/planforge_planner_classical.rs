planforge_plugin_sdk::export_bundled!(planforge_planner_classical);
