"""Begins a step in a folder of your own:

    python start.py my_framework                  # step 1
    python start.py 4 my_framework                # step 4: steps 1 to 3 solved, and the gaps of step 4
    python start.py 4 my_framework --solution     # step 4 solved

What you wrote in the files before is kept, in a folder beside them.
"""

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from course import FILES, TITLES, folder_of, text_of  # noqa: E402

CHECK = '''"""python3 check.py checks this step; python3 check.py {step} --solution shows what goes into its gaps."""

import subprocess
import sys
from pathlib import Path

STEP, CHECK = {step}, Path({check!r})

if not CHECK.exists():
    sys.exit(f"{{CHECK}} is no longer there. If the folder was moved, change CHECK in {{__file__}}")
here = str(Path(__file__).resolve().parent)
sys.exit(subprocess.call([sys.executable, str(CHECK), *(sys.argv[1:] or [str(STEP)]), "--folder", here]))
'''


def begin(step, folder, solved=False):
    """Writes the files of a step. Returns the folder to which files that would be lost were moved, or None."""
    new = folder_of(step, solved)
    folder.mkdir(parents=True, exist_ok=True)
    kept = unused(folder, f"before-step-{step}")
    for name in FILES:
        path = folder / name
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else None
        if text == new.get(name):  # it stays, and so does what was compiled from it
            continue
        if text is not None and text not in course_texts(name):
            kept.mkdir(exist_ok=True)
            path.rename(kept / name)
        elif text is not None:
            path.unlink()
        if name in new:
            path.write_text(new[name], encoding="utf-8")
    check = str(Path(__file__).resolve().parent / "check.py")
    (folder / "check.py").write_text(CHECK.format(step=step, check=check), encoding="utf-8")
    return kept if kept.exists() else None


def course_texts(name):
    """What this program may have written into a file: nothing of the learner's."""
    return [text_of(name, step, solved) for step in TITLES for solved in (False, True)]


def unused(folder, name):
    """folder / name, or with a number behind it if that is there already."""
    path, number = folder / name, 1
    while path.exists():
        number += 1
        path = folder / f"{name}-{number}"
    return path


def main():
    parser = argparse.ArgumentParser(description="Begin a step in a folder of your own.")
    parser.add_argument("step", nargs="?", type=int, choices=TITLES, default=1, help="1 to 10 (default: 1)")
    parser.add_argument("folder", type=Path, help="where you work; it is made if it is not there")
    parser.add_argument("--solution", action="store_true", help="write the step's solution instead of its gaps")
    arguments = parser.parse_args()
    if arguments.folder.name.isdigit():
        parser.error(f"in which folder? For example: start.py {arguments.folder} my_framework")
    if arguments.folder.resolve() == Path(__file__).resolve().parent:
        parser.error("this folder holds the course: choose another one, such as ../../../../my_framework")
    kept = begin(arguments.step, arguments.folder, arguments.solution)
    if kept:
        print(f"Your files are now in {kept}.")
    title = f"step {arguments.step}, {TITLES[arguments.step]}"
    if arguments.solution:
        print(f"{arguments.folder} holds the solution of {title}. Check it with")
    else:
        print(f"{arguments.folder} holds {title}. Fill the gaps that say todo, and check them with")
    print(f"    cd {arguments.folder}\n    {Path(sys.executable).name} check.py {arguments.step}")


if __name__ == "__main__":
    main()
