"""Asks our tools every question and failure case of the shared data: `scripts/check_answers.py [--json] [--data DIR]`.

The tools are called as a specialist calls them (checked arguments, JSON back); which tool answers which question stands
in tests/answers/. Prints a line for each question: id, ok or wrong, what came, what is right. Exits 1 where fewer than
105 questions or not all cases come out right.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
QUESTIONS_WANTED = 105
SHOWN_CHARS = 70


def main() -> int:
    from answers.checking import check_answers, check_cases

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder with answers.json")
    arguments = parser.parse_args()
    if not (arguments.data / "answers.json").is_file():
        parser.error(f"{arguments.data} holds no answers.json")
    right = {}
    found = {}
    with tempfile.TemporaryDirectory(prefix="outcrop-answers-") as folder:
        for kind, check in (("questions", check_answers), ("cases", check_cases)):
            found[kind] = []
            for each in check(arguments.data, Path(folder) / kind):
                found[kind].append(asdict(each))
                if not arguments.json:
                    print(f"{each.id:<32} {'ok' if each.ok else 'WRONG':<6} {shown(each.got)} | {shown(each.expected)}")
            right[kind] = sum(each["ok"] for each in found[kind])
    if arguments.json:
        print(json.dumps({**found, "right": right}, ensure_ascii=False, indent=1))
    else:
        print(", ".join(f"{right[kind]} of {len(found[kind])} {kind} right" for kind in found))
    return int(right["questions"] < QUESTIONS_WANTED or right["cases"] < len(found["cases"]))


def shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"


if __name__ == "__main__":
    sys.exit(main())
