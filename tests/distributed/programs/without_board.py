"""As without the launcher's board, ranks call different collectives: argument 1 says how."""

import os
import sys

os.environ.pop("NORCH_BOARD")
import norch
import norch.distributed as dist

dist.init_process_group(timeout=10)
x = norch.ones(10)
if dist.get_rank() == 1:
    x = {"shape": norch.ones(1000), "dtype": x.double(), "operation": x}[sys.argv[1]]
if sys.argv[1] == "operation" and dist.get_rank() == 1:
    dist.broadcast(x)
else:
    dist.all_reduce(x)
dist.all_reduce(x)
