import importlib.util

# Only the venv that has unified-planning runs them.
collect_ignore = [] if importlib.util.find_spec("unified_planning") else ["test_engine.py"]
