"""Runs unified-planning's own report on the engines of planforge.

    git clone --branch v1.3.0 https://github.com/aiplan4eu/unified-planning up
    python run_report.py up [ARGUMENT...]

Its filters of file names look at whole paths: no folder above the checkout may have a digit in its name.
"""

import os
import sys
from pathlib import Path

import planforge.up

planforge.up.register()
folder = Path(sys.argv[1]).resolve() / "up_test_cases"
os.chdir(folder)
sys.path.insert(0, str(folder))
engines = ["planforge", "planforge-opt", "planforge-val", "replanner[planforge]", "oversubscription[planforge]"]
sys.argv[1:] = [*engines, *sys.argv[2:]]

import report  # noqa: E402

report.main()
