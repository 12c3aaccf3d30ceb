"""The part of YAML that is read of a front matter, and that what is not understood is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from outcrop_specialists.context.front_matter import FrontMatter, FrontMatterError
from outcrop_specialists.context.skills import find_skills


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("k: plain words", "plain words"),
        ("k: plain  # a comment", "plain"),
        ("k: a#b", "a#b"),
        ("k: Which unit: ppm", "Which unit: ppm"),
        ("# above\nk: plain\n# below", "plain"),
        ("k:   # a comment alone\n  on the\n  next lines", "on the next lines"),
        ("k: goes on  # so far\n  and on", "goes on and on"),
        ("k: goes on\n\n  and on", "goes on and on"),
        ("k: 'it''s'", "it's"),
        ("k: 'a # b'  # c", "a # b"),
        ("k: 'over\n  lines'", "over lines"),
        (r'k: "say \"hi\" \u00e9 \x41 \\ \/ \U0001F3D4"', 'say "hi" é A \\ / 🏔'),
        (r'k: "one\ntwo\tthree"', "one two three"),
        ('k: "joined \\\n  here"', "joined here"),
        ("k: |\n  one: 1\n  # no comment\nother: x", "one: 1 # no comment"),
        ("k: >-  # folded\n  one\n\n  two", "one two"),
        ("k: |2+\n    one", "one"),
        ('"k": a', "a"),
        ("'k': a", "a"),
        ("k : a", "a"),
        ("k: ~", ""),
        ("k: null", ""),
        ("k:", ""),
        ("other: x", ""),
        ("list:\n- a\n- b\nk: a", "a"),
        ("map:\n  k: b\nk: a", "a"),
        ("other: &x [1, 2]\nk: a", "a"),
        ("k: a\r\nother: b\r\n", "a"),
        ("k: 12", "12"),
    ],
)
def test_a_text_is_read_as_yaml_has_it(front: str, said: str) -> None:
    assert FrontMatter(front).text("k") == said


@pytest.mark.parametrize(
    ("front", "why"),
    [
        ("k: &a b", "an anchor, which is not read; put it in quotes"),
        ("k: *a", "an alias"),
        ("k: !!str a", "a tag"),
        ("k: [a, b]", "a list"),
        ("k: {a: b}", "a mapping"),
        ("k:\n  - a", "a list or a mapping"),
        ("k:\n- a", "a list or a mapping"),
        ("k:\n  a: b", "a list or a mapping"),
        ('k: "open', "opened and not closed"),
        ("k: 'open", "opened and not closed"),
        ("k: 'a' b", "behind the closing quote stands 'b'"),
        (r'k: "C:\data"', "is no escape; write the backslash twice"),
        (r'k: "\ud800"', "half of a character"),
        ("? k", "line 2 is not understood: '? k'"),
        ("k: a\nwords without a colon", "line 3 is not understood"),
        ("k:a", "line 2 is not understood"),
        ("  k: a", "line 2 is not understood"),
    ],
)
def test_what_is_not_understood_is_said(front: str, why: str) -> None:
    with pytest.raises(FrontMatterError) as raised:
        FrontMatter(front).text("k")
    assert why in str(raised.value)


def test_the_warning_names_the_skill_and_what_was_not_understood(tmp_path: Path) -> None:
    for name, front in (
        ("good", 'name: good  # ours\ndescription: "say \\"hi\\""'),
        ("bad", "name: bad\ndescription: *x"),
    ):
        path = tmp_path / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"---\n{front}\n---\nbody\n")
    skills, problems = find_skills(tmp_path)
    assert [(skill.name, skill.description) for skill in skills] == [("good", 'say "hi"')]
    [problem] = problems
    assert problem.startswith("skills/bad/SKILL.md: description: it begins with '*', an alias, which is not read")
