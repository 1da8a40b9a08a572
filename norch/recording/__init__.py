"""Recorded programs: what `norch.compile` makes of a function (compiler.py has the door to it).

watching.py   what a function may look at that is no argument: modules, optimizers, names
recorder.py   one call, recorded while it runs
program.py    what replays, and how it prints
function.py   the compiled function: which program fits a call, and when to record
"""
