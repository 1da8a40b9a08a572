"""Checks a step, in the folder where you work:

    python check.py 3                # compiles tensor.cpp, and says what works and what is missing
    python check.py 3 --solution     # shows what goes into the gaps of step 3

The checks are in checks/03.txt. Each begins with a sentence; the lines at the prompt >>> run in the folder's files.
"""

import argparse
import contextlib
import doctest
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

sys.dont_write_bytecode = True

from course import FILES, TITLES, gaps_of  # noqa: E402

HERE = Path(__file__).resolve().parent
LAST = max(TITLES)
SECONDS = 60  # after which the checks are stopped


def compile_tensor(folder):
    """Makes libtensor.so from tensor.cpp, unless it is there; ends with the compiler's words if that fails."""
    source, library = folder / "tensor.cpp", folder / "libtensor.so"
    if library.exists() and library.stat().st_mtime_ns == source.stat().st_mtime_ns:
        return
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CXX", "g++"), "g++", "c++", "clang++"))), None)
    if compiler is None:
        sys.exit("There is no C++ compiler (g++). Debian, Ubuntu: sudo apt install g++; macOS: xcode-select --install")
    options = "-std=c++17 -O2 -Wall -Werror=return-type -shared -fPIC -o libtensor.so tensor.cpp"
    print(f"{Path(compiler).name} {options}")
    began = time.time()
    run = subprocess.run([compiler, *options.split()], cwd=folder, capture_output=True, text=True)
    print("".join(run.stderr.splitlines(keepends=True)[:20]), end="")
    if run.returncode:
        sys.exit("\ntensor.cpp does not compile. Begin with the first error above: tensor.cpp, line, column.")
    os.utime(library, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))  # so that it is known to be its own
    print(f"compiled in {time.time() - began:.1f} s\n")


def open_gaps(folder):
    """Where the folder's files still say todo."""
    for name in FILES:
        lines = (folder / name).read_text(encoding="utf-8").splitlines() if (folder / name).exists() else []
        for number, line in enumerate(lines, 1):
            found = re.search(r"(?:#|//) (todo \(\w+\))", line)
            if found:
                yield f"{name}, line {number}: {found[1]}"


# ---- The checks run in a second process, which a mistake in C++ may end ----------------------------------------------


def groups_of(step):
    """(sentence, examples) for each check of a step."""
    groups = []
    text = (HERE / "checks" / f"{step:02}.txt").read_text(encoding="utf-8")
    for part in doctest.DocTestParser().parse(text):
        if isinstance(part, doctest.Example):
            groups[-1][1].append(part)
        elif part.strip():
            groups.append((" ".join(part.split()), []))
    return groups


def run_checks(step):
    """Runs the checks on the files of the working folder, and prints one line for each, or more if it fails."""
    sys.path[:0] = [os.getcwd(), str(HERE / "checks")]
    names, passed, groups = {"__name__": "check"}, 0, groups_of(step)
    for number, (sentence, examples) in enumerate(groups, 1):
        print(f"begin {sentence}", flush=True)
        for example in examples:
            found = outcome(example, names)
            if found is not None:
                report(sentence, example, found)
                break
        else:
            passed += 1
            print(f"  ok   {sentence}", flush=True)
            continue
        if not example.want and number < len(groups):  # what it should have made is not there for the others
            print(f"\nThe other {len(groups) - number} checks wait until this works.")
            break
    print(f"\n{passed} of {len(groups)} checks pass.")
    sys.exit(passed < len(groups))


def outcome(example, names):
    """What an example gave instead of what was expected; None if it is right."""
    sys.displayhook = lambda value: None if value is None else print(repr(value))  # and not kept as `_`
    output, words = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(output):
            exec(compile(example.source, "<check>", "single", dont_inherit=True), names)
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        output.write(f"{words}{place_of(error)}\n")
    found = output.getvalue()
    if example.exc_msg is None:
        right = words is None and found == example.want
    else:  # the parts of the message that count, with ... between them
        right = words is not None and all(part in words for part in example.exc_msg.strip().split("..."))
    return None if right else found or "nothing\n"


def place_of(error):
    """Where in the learner's files an error came up."""
    place = ""
    trace = error.__traceback__
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if file.parent == Path.cwd():
            place = f" ({file.name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return place


def report(sentence, example, found):
    expected = re.sub(r" ?\.\.\.", " … ", example.exc_msg) if example.exc_msg else example.want or "no error\n"
    print(f"  --   {sentence}")
    for title, text in (("tried", example.source), ("expected", expected), ("found", found)):
        print(textwrap.indent(text.rstrip("\n"), " " * 18).replace(" " * 18, f"       {title + ':':11}", 1))
    sys.stdout.flush()


# ---- What the learner calls ------------------------------------------------------------------------------------------


def check(step, folder):
    """Compiles and checks a step; the exit status."""
    print(f"Step {step}: {TITLES[step]}\n")
    missing = [name for name, first in FILES.items() if first <= step and not (folder / name).exists()]
    if missing:
        print(f"{folder} has no {missing[0]}, which step {step} needs.")
        print(f"Begin the step in a folder of your own:\n    {command('start.py')} {step} my_framework")
        return 1
    compile_tensor(folder)
    todo = list(open_gaps(folder))
    if todo:
        print("Still to do:", *todo, "", sep="\n  ")
    status = run(step, folder)
    if status == 0 and step < LAST:
        print(f"Step {step} is done. For the next one:\n    {command('start.py')} {step + 1} {folder}")
    elif status == 0:
        print(f"That was the last step: the framework is yours. Try: {Path(sys.executable).name} train.py")
    return status


def run(step, folder):
    """Runs the checks in a process of their own, and says so if it dies; the exit status."""
    sentence = ""
    process = subprocess.Popen(
        [sys.executable, "-u", str(HERE / "check.py"), str(step), "--run"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, lambda *_: process.kill())
        signal.alarm(SECONDS)
    for line in process.stdout:
        if line.startswith("begin "):
            sentence = line[6:].strip()
        else:
            print(line, end="", flush=True)
    status = process.wait()
    if status == -signal.SIGKILL:
        print(f"  --   {sentence}\n       was stopped after {SECONDS} seconds: is there a loop that never ends?")
    elif status < 0:
        print(f"  --   {sentence}\n       ended Python ({signal.Signals(-status).name}): C++ used memory not its own,")
        print("       through an index that is too large, memory that was freed already, or a nullptr.")
    return int(status != 0)


def command(name):
    return f"{Path(sys.executable).name} {HERE / name}"


def show_solution(step):
    for name, first in FILES.items():
        for gap, lines in gaps_of(name, step).items() if first <= step else ():
            print(f"{name}, {gap}:\n{textwrap.indent(textwrap.dedent(chr(10).join(lines)), '    ')}\n")


def main():
    parser = argparse.ArgumentParser(description="Check a step of your framework.")
    parser.add_argument("step", type=int, choices=TITLES, help="the number of the step, 1 to 10")
    parser.add_argument("--solution", action="store_true", help="show what goes into the gaps")
    parser.add_argument("--folder", type=Path, default=Path(), help="where your files are (default: here)")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run_checks(arguments.step)
    elif arguments.solution:
        show_solution(arguments.step)
    else:
        sys.exit(check(arguments.step, arguments.folder.resolve()))


if __name__ == "__main__":
    main()
