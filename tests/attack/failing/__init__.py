"""What failures.py does: programs (workloads, examples), faults that come in turn, and the checks after each."""
