"""Recorded programs: what `norch.compile` makes of a function (compiler.py has the door to it).

watching.py   what a function may look at that is no argument: modules, optimizers, names
reading.py    what its code may read
guards.py     the guards of all that, and whether they hold
recorder.py   what C notes of a call while it runs
signature.py  what calls of one form have in common
call.py       one call that is recorded, and what it left behind
program.py    what replays, and how it prints
function.py   the compiled function: which program fits a call, and when to record
"""
