"""Reads an expression as a tree: operator precedence as in Python (Pratt 1973), and nothing but what is listed here.

From loose to tight: `or`, `and`, `not`, comparisons (also chained, `in`, `between`, `is null`), `+ -`, `* / // %`,
signs, `**`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from outcrop_schemas import limits
from outcrop_specialists.expressions.tokens import Source, Token, tokens_of

OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN, POWER = range(1, 9)
BINDING = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "//": PRODUCT, "%": PRODUCT, "**": POWER}
COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
TEXT_TESTS = frozenset(("contains", "starts_with", "ends_with"))
"""Also allowed between their two operands, as `rock contains 'schist'`."""
STARTS = "a number, 'text', a column, a function, ( or -"


@dataclass(frozen=True)
class Literal:
    """A number, a text, true, false, or None for null."""

    at: int
    value: int | float | str | bool | None


@dataclass(frozen=True)
class Column:
    at: int
    name: str


@dataclass(frozen=True)
class Operation:
    """An operator (`-` and `not` with one operand) or a function with its operands."""

    at: int
    name: str
    operands: tuple[Node, ...]
    is_call: bool = False


@dataclass(frozen=True)
class Comparison:
    """`first op second op third …`, each neighbouring pair compared."""

    at: int
    operands: tuple[Node, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True)
class Membership:
    at: int
    operand: Node
    values: tuple[Node, ...]
    is_negated: bool


Node = Literal | Column | Operation | Comparison | Membership


def parse(source: Source) -> Node:
    """The tree of an expression. Raises ArgumentError with the place of the first fault and what is allowed there."""
    return _Parser(source).whole()


class _Parser:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._tokens = tokens_of(source)
        self._place = 0
        self._nesting = 0
        self._terms = 0

    def whole(self) -> Node:
        tree = self._expression(OR)
        if self._next.kind != "end":
            self._fail("an operator or the end is expected")
        return tree

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _expression(self, least: int) -> Node:
        """An expression of operators that bind at least so tightly."""
        self._nesting += 1
        if self._nesting > limits.EXPRESSION_DEPTH:
            self._fail(f"is nested deeper than {limits.EXPRESSION_DEPTH} levels; derive a column first")
        left = self._operand()
        while (binding := self._binding()) >= least:
            left = self._after(left, binding)
        self._nesting -= 1
        return left

    def _operand(self) -> Node:
        token = self._take()
        self._terms += 1
        if self._terms > limits.EXPRESSION_TERMS:
            self._source.refuse(token.at, f"is longer than {limits.EXPRESSION_TERMS} terms")
        if token.kind in ("number", "text"):
            return Literal(token.at, token.value)
        if token.kind == "column":
            return Column(token.at, str(token.value))
        if token.kind == "name" or (token.value == "between" and self._is("(")):
            return self._call(token) if self._is("(") else Column(token.at, token.text)
        if token.kind == "word" and token.value in ("true", "false", "null"):
            return Literal(token.at, {"true": True, "false": False}.get(str(token.value)))
        if token.kind == "word" and token.value == "not":
            return Operation(token.at, "not", (self._expression(NOT),))
        if token.kind == "mark" and token.text in "+-":
            operand = self._expression(SIGN)
            return operand if token.text == "+" else Operation(token.at, "-", (operand,))
        if token.kind == "mark" and token.text == "(":
            inner = self._expression(OR)
            self._close(")", token)
            return inner
        self._source.refuse(token.at, f"{STARTS} is expected")

    def _call(self, name: Token) -> Node:
        opening = self._take()
        operands: list[Node] = []
        while not self._is(")"):
            operands.append(self._expression(OR))
            if not self._is(")"):
                self._close(",", opening, "a comma or )")
        self._take()
        if name.text == "col":
            if len(operands) != 1 or not isinstance(operands[0], Literal) or not isinstance(operands[0].value, str):
                self._source.refuse(name.at, 'col takes the name of a column in quotes, as col("Au ppm")')
            return Column(name.at, operands[0].value)
        return Operation(name.at, name.text, tuple(operands), is_call=True)

    def _binding(self) -> int:
        token = self._next
        if token.kind == "word":
            words = {"or": OR, "and": AND, "in": COMPARISON, "between": COMPARISON, "is": COMPARISON, "not": COMPARISON}
            return words.get(str(token.value), 0)
        if token.kind == "name":
            return COMPARISON if token.text in TEXT_TESTS else 0
        if token.kind != "mark":
            return 0
        return COMPARISON if token.value in COMPARISONS else BINDING.get(token.text, 0)

    def _after(self, left: Node, binding: int) -> Node:
        """What an operator makes of the operand before it and those behind."""
        if binding == COMPARISON:
            return self._comparison(left)
        token = self._take()
        name = str(token.value)
        right = self._expression(binding if binding == POWER else binding + 1)
        if binding in (OR, AND) and isinstance(left, Operation) and left.name == name:
            return Operation(left.at, name, (*left.operands, right))
        return Operation(token.at, name, (left, right))

    def _comparison(self, left: Node) -> Node:
        token = self._next
        found = self._chain(left) if token.value in COMPARISONS else self._test(left)
        if self._binding() == COMPARISON:
            self._fail("one test follows another; join them with and, or with ( )")
        return found

    def _chain(self, left: Node) -> Node:
        at = self._next.at
        operands, operators = [left], []
        while self._next.kind == "mark" and self._next.value in COMPARISONS:
            operators.append(str(self._take().value))
            operands.append(self._expression(SUM))
        return Comparison(at, tuple(operands), tuple(operators))

    def _test(self, left: Node) -> Node:
        token = self._take()
        if token.kind == "name":
            return Operation(token.at, token.text, (left, self._expression(SUM)), is_call=True)
        if token.value == "is":
            is_negated = self._word("not")
            if not self._word("null"):
                self._fail("null is expected behind is")
            return Operation(token.at, "not_null" if is_negated else "is_null", (left,), is_call=True)
        is_negated = token.value == "not"
        if is_negated:
            token = self._take()
        if token.value == "between":
            low = self._expression(SUM)
            if not self._word("and"):
                self._fail("and is expected between the two ends of between")
            tested: Node = Operation(token.at, "between", (left, low, self._expression(SUM)), is_call=True)
            return Operation(token.at, "not", (tested,)) if is_negated else tested
        if token.value != "in":
            self._source.refuse(token.at, "in or between is expected behind not")
        return Membership(token.at, left, self._list(), is_negated)

    def _list(self) -> tuple[Node, ...]:
        opening = self._take()
        if opening.text not in ("(", "["):
            self._source.refuse(opening.at, "a list in ( ) is expected behind in")
        end = ")" if opening.text == "(" else "]"
        values: list[Node] = []
        while not self._is(end):
            values.append(self._expression(SUM))
            if not self._is(end):
                self._close(",", opening, f"a comma or {end}")
        self._take()
        if not values:
            self._source.refuse(opening.at, "the list is empty")
        return tuple(values)

    def _is(self, mark: str) -> bool:
        return self._next.kind == "mark" and self._next.text == mark

    def _word(self, word: str) -> bool:
        """Take this word if it is next."""
        is_next = self._next.kind == "word" and self._next.value == word
        self._place += is_next
        return is_next

    def _close(self, mark: str, opening: Token, expected: str = "") -> None:
        if not self._is(mark):
            self._fail(f"{expected or mark} is expected, because of {opening.text} at character {opening.at + 1}")
        self._take()

    def _take(self) -> Token:
        token = self._next
        self._place += token.kind != "end"
        return token

    def _fail(self, reason: str) -> NoReturn:
        self._source.refuse(self._next.at, reason)
