"""Only for a script that lies beside this folder, when this folder is called norch.

For that script `import norch` finds the folder of the clone, not the package in it. This file hands over the package:
an installed one if there is one, else the one in the clone.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

if __name__ == "norch":
    _clone = os.path.dirname(os.path.realpath(__file__))
    _path = [entry for entry in sys.path if os.path.realpath(os.path.join(entry, "norch")) != _clone]
    _spec = PathFinder.find_spec("norch", [*_path, _clone])
    sys.modules["norch"] = module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["norch"])
