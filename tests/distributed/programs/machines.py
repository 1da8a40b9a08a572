"""Each rank says where it is; argument "sums": the ranks of all machines communicate."""

import os
import sys

import norch
import norch.distributed as dist

total = norch.ones(3)
if sys.argv[1] == "sums":
    dist.init_process_group(timeout=30)
    dist.all_reduce(total)
names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "NORCH_TEST_SETTING")
print("here:", *(os.environ.get(name) for name in names), total[0].item(), flush=True)
