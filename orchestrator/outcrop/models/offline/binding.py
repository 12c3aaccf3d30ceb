"""Binds the words of a clause to the arguments of a tool, from its schema and the table's profile.

Nothing is dropped silently: what would change the meaning of the work and cannot be bound refuses the call, what merely
goes unused is a blocker or a finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from outcrop.models.offline.calling import calls_of, defaults_of, lacking
from outcrop.models.offline.cards import Card, read_card
from outcrop.models.offline.checks import check
from outcrop.models.offline.claims import claim_forms
from outcrop.models.offline.columns import Bound, ColumnBinder
from outcrop.models.offline.conditions import Conditions, find_conditions
from outcrop.models.offline.counting import query_arguments
from outcrop.models.offline.cues import Cued, cued
from outcrop.models.offline.earlier import Earlier
from outcrop.models.offline.files import bind_files, common_key
from outcrop.models.offline.filling import Filling
from outcrop.models.offline.forms import Forms, column_forms, shale_volume, text_forms
from outcrop.models.offline.guards import Clause, refusals_of
from outcrop.models.offline.leftovers import JOINING, LIST_CUES, Reading, find_leftovers, lacks_object
from outcrop.models.offline.mentions import Mentions, finder_of
from outcrop.models.offline.named import bind_named, bind_own
from outcrop.models.offline.names import with_files, with_names, with_spoken
from outcrop.models.offline.numbers import bind_numbers
from outcrop.models.offline.options import choose
from outcrop.models.offline.polarity import polarity_of
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.ranking import ranking_forms
from outcrop.models.offline.references import Previous, back_references, bind_references
from outcrop.models.offline.restrictions import bind_conditions
from outcrop.models.offline.retrieval import Retrieval, leading_verb
from outcrop.models.offline.schema import properties_of
from outcrop.models.offline.strings import bind_strings
from outcrop.models.offline.unmet import unmet_restrictions
from outcrop.models.offline.vocabulary import BACK_REFERENCES, POLITE, TASK_VERBS
from outcrop.models.offline.words import Word, words_of
from outcrop_schemas.messages import ToolSchema

CLUSTER = "cluster"
PATH_NAMES = ("path", "file", "table", "input")


@dataclass
class Binding:
    """What a clause comes to for one tool.

    `calls` are the arguments of each call; where `is_chain`, each call works on the table that the one before wrote.
    `refusals` say why nothing is called; `blockers` what a call will not do; `notes` what was assumed.
    """

    calls: list[dict[str, Any]] = field(default_factory=list)
    is_chain: bool = False
    refusals: list[str] = field(default_factory=list)
    blockers: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def bind(
    tool: ToolSchema, clause: str, profile: Profile, previous: Previous | None = None, others: Sequence[Profile] = ()
) -> Binding:
    """Bind one clause. The profile gives the column names; `previous` is what an earlier step made, `others` are the
    further data files."""
    clause, spoken = with_spoken(with_files(clause, [profile, *others]), profile)
    binder = _Binder(tool, clause, profile, previous or Previous(), others)
    binding = binder.bind()
    if binder.unknown and (told := with_names(clause, binder.unknown, profile)):
        binding = _Binder(tool, told[0], profile, previous or Previous(), others).bind()
        binding.notes += told[1]
    binding.notes += spoken
    return binding


class _Binder:
    def __init__(
        self, tool: ToolSchema, clause: str, profile: Profile, previous: Previous, others: Sequence[Profile]
    ) -> None:
        self._tool, self._clause, self._profile, self._previous = tool, clause, profile, previous
        self._others = others
        self._properties = properties_of(tool.input_schema)
        self._card: Card = read_card(tool.name, tool.description)
        self._words: Sequence[Word] = words_of(clause)
        self._verb = leading_verb(self._words, profile.folded_names)
        self._finder = finder_of(profile)
        self._arguments: dict[str, Any] = {}
        self._asked = self._asked_words()
        self._used: set[int] = set()
        self._formed: set[int] = set()
        self._idle: list[str] = []
        self._cued: list[Cued] = []
        self._log_of: list[str] = []
        self._has_condition = False
        self._result = Binding()
        self.unknown: list[str] = []

    def bind(self) -> Binding:
        forms = text_forms(self._clause, self._words, self._properties, self._asked)
        self._take(forms)
        mentions = self._finder.find(self._clause, self._words, self._not_columns() | forms.used)
        for unclear in mentions.ambiguous:
            self._result.refusals.append(f'"{unclear.text}" may be {" or ".join(unclear.columns)}; give the exact name')
        earlier = Earlier(self._words, self._profile, self._previous, mentions)
        earlier.add(self._properties)
        self._result.notes += earlier.notes
        self._result.refusals += earlier.refusals
        self._used |= mentions.used
        forms = self._forms(mentions)
        self._take(ranking_forms(self._words, self._properties, mentions, self._profile.rows))
        conditions = find_conditions(self._words, mentions)
        self._has_condition = bool(conditions.found) or bool(forms.used)
        self._bind_options(mentions, conditions)
        options = set(self._used) - mentions.used | self._formed
        self._bind_numbers(mentions, conditions)
        chain = self._bind_conditions(conditions)
        bound = self._bind_columns(mentions, conditions)
        strings = bind_strings(self._words, self._properties, self._used, set(self._arguments))
        self._arguments |= strings.arguments
        self._used |= strings.used
        names = {prop.name for prop in self._properties}
        self._used |= {at for at, word in enumerate(self._words) if word.text in names}
        self._say_leftovers()
        self._result.refusals += self._guard(mentions, conditions, options)
        self._bind_files()
        checked = check(self._words, self._properties, self._arguments, self._profile, self._used)
        filling = Filling(self._tool.name, self._profile, self._arguments, self._idle)
        filled = filling.fill(self._properties, bound.names)
        self._result.refusals += [*checked.refusals, *filled.refusals]
        self._result.blockers += filled.blockers
        self._result.notes += [*checked.notes, *filled.notes]
        self._make_calls(bound, chain)
        return self._result

    def _take(self, forms: Forms) -> None:
        self._arguments |= forms.arguments
        self._used |= forms.used
        self._formed |= forms.used
        self._result.notes += forms.notes
        self._result.refusals += forms.refusals

    def _forms(self, mentions: Mentions) -> Forms:
        """What has a form of its own; its columns are bound by that."""
        forms = claim_forms(self._words, self._properties, mentions, self._profile)
        forms = forms or column_forms(self._words, self._properties, mentions, self._used)
        if not self._arguments.get("expression"):
            shale = shale_volume(self._words, self._properties, mentions)
            forms = shale if shale.used else forms
        self._take(forms)
        mentions.found = [mention for mention in mentions.found if mention.first not in forms.used]
        return forms

    def _asked_words(self) -> set[int]:
        """The places of the words that asked for this tool."""
        match = Retrieval([self._card]).best(self._clause, self._profile.folded_names)
        places = set(match.words) if match else set()
        return places | ({self._words.index(self._verb)} if self._verb else set())

    def _not_columns(self) -> set[int]:
        """Asked-for words are no columns, unless one is written exactly so or stands after "by" and the like.

        What stands in the verb's place asks for the work even where a column has its name, and so does "groups" of a
        clustering.
        """
        verb = self._words.index(self._verb) if self._verb else -1
        said = [at for at, word in enumerate(self._words) if word.kind == "word" and word.lower not in POLITE]
        first = next((at for at in said[:1] if self._words[at].lower in TASK_VERBS), -1)
        own = {at for at in said if self._tool.name == CLUSTER and self._words[at].stem in BACK_REFERENCES}
        return own | {at for at in self._asked if at in (verb, first) or not self._stands_as_column(at)}

    def _guard(self, mentions: Mentions, conditions: Conditions, options: set[int]) -> list[str]:
        """What stands against doing the clause as it was bound."""
        excepted = {at for each in self._cued if each.cue == "except" for at in (each.mention.first,)}
        clause = Clause(
            self._words, self._used, self._asked, self._verb, mentions, excepted, options, conditions.used,
            takes_measures=self._takes_measures(),
        )  # fmt: skip
        taken = self._used | conditions.used
        unmet = unmet_restrictions(self._words, taken, self._asked, mentions, self._profile.rows)
        return [*refusals_of(clause, self._profile), *unmet]

    def _stands_as_column(self, at: int) -> bool:
        before = self._words[at - 1].lower if at else ""
        return self._words[at].text in self._profile.names or before in LIST_CUES | JOINING

    def _takes_measures(self) -> bool:
        """Whether the tool gets the measured columns because none is named."""
        return any(prop.role == "columns" and prop.is_required and prop.name not in self._arguments
                   for prop in self._properties)  # fmt: skip

    def _bind_options(self, mentions: Mentions, conditions: Conditions) -> None:
        options = choose(
            self._words, self._properties, self._card, mentions.used | conditions.used | self._formed, self._arguments
        )
        self._arguments |= options.arguments
        self._used |= options.used
        self._log_of = [each.column for at in options.log_of if (each := mentions.at(at))]
        self._result.notes += options.notes
        for said in options.unsupported:
            self._result.refusals.append(f'"{said}" is not offered by {self._tool.name}; nothing was put in its place')

    def _bind_numbers(self, mentions: Mentions, conditions: Conditions) -> None:
        # "cluster the first 100 rows" does not ask for 100 clusters.
        verb = {self._words.index(self._verb)} if self._verb else set()
        free = [prop for prop in self._properties if prop.name not in self._arguments]
        numbers = bind_numbers(self._words, free, mentions.used | conditions.used | verb, self._used)
        self._arguments |= numbers.arguments
        self._used |= numbers.used
        self._idle += numbers.idle
        self._result.refusals += [f"{conflict}: one value is needed" for conflict in numbers.conflicts]
        self._result.blockers += [
            f'"{said}" has no effect: no argument of {self._tool.name} takes it'
            for said in numbers.unbound
            if not self._is_row_count(said)
        ]

    def _is_row_count(self, said: str) -> bool:
        """ "The 959 samples" of a table of 959 rows."""
        pairs = zip(self._words, self._words[1:], strict=False)
        return any(
            word.text == said and word.number == self._profile.rows and after.stem == "row" for word, after in pairs
        )

    def _bind_conditions(self, conditions: Conditions) -> list[dict[str, Any]]:
        restriction = bind_conditions(conditions, self._properties, self._card, self._words, self._profile)
        self._used |= conditions.used
        modes = {prop.name for prop in self._properties} >= {"mode", "output"}
        if modes and self._arguments.get("output") != "flag" and polarity_of(self._words, conditions.used) != "keep":
            self._result.refusals.append(f"{self._tool.name} keeps the rows that pass; say which rows are to be kept")
        self._result.refusals += restriction.refusals
        self._result.notes += restriction.notes
        return restriction.calls

    def _bind_columns(self, mentions: Mentions, conditions: Conditions) -> Bound:
        free = [each for each in cued(self._words, mentions) if each.mention.first not in conditions.used]
        self._cued = free
        names = {each.column for each in free}
        query = query_arguments(
            self._words, self._properties, self._arguments, columns=len(names), has_condition=bool(conditions.found)
        )
        self._arguments |= query
        self._arguments |= bind_named(self._words, self._properties, free, self._profile)
        bound = ColumnBinder(self._properties, self._profile).bind(free)
        own = bind_own(
            self._properties, [each for each in free if each.column in bound.left], self._profile, self._arguments
        )
        bound.left = [name for name in bound.left if name not in own]
        references = back_references(self._words, self._used | self._asked)
        bind_references(bound, references, self._properties, self._profile, self._previous)
        self._used |= references.used
        self._result.refusals += references.refusals
        self._result.notes += bound.notes
        if bound.left:
            said = f"{', '.join(dict.fromkeys(bound.left))}: {self._tool.name} has no argument for it"
            # A tool without any argument for columns looks at all of them; what is asked for is in its answer.
            takes_columns = any(prop.is_column for prop in self._properties)
            (self._result.refusals if takes_columns else self._result.blockers).append(said)
        self._arguments |= bound.arguments
        self._bind_keep()
        self._bind_log_axes()
        return bound

    def _bind_keep(self) -> None:
        """ "Drop the columns", "leave out the blanks": what is kept is then the rest."""
        keep = next((prop for prop in self._properties if prop.name == "keep" and prop.choices), None)
        rest = next((choice for choice in ("others", "routine") if keep and choice in keep.choices), None)
        is_free = keep and rest and "matching" not in keep.choices and keep.name not in self._arguments
        is_removal = polarity_of(self._words, set()) == "remove" or any(word.stem == "remov" for word in self._words)
        if keep and is_free and is_removal:
            self._arguments[keep.name] = rest

    def _bind_log_axes(self) -> None:
        """ "Log Zn against Pb" has one logarithmic axis, that of Zn."""
        for column in self._log_of:
            axes = [axis for axis in "xy" if self._arguments.get(axis) == column]
            self._arguments |= {f"log_{axis}": True for axis in axes}
            if not axes:
                self._result.refusals.append(f"{column} is on no axis, so its logarithm cannot be drawn")

    def _say_leftovers(self) -> None:
        own = set(self._card.vocabulary).union(*(prop.stems for prop in self._properties))
        path = self._profile.path
        reading = Reading.of(self._clause, self._words, self._verb, self._asked, self._used, own, path)
        left = find_leftovers(reading)
        if lacks_object(reading) and not self._has_condition:
            self._result.refusals.append(f"what is asked for is not what {self._tool.name} does")
        # What stands in quotes is meant to the letter.
        quoted = {word.inner for word in self._words if word.kind == "quoted"}
        self.unknown = [] if quoted & set(left.unknown) else left.unknown
        for name in dict.fromkeys(left.unknown):
            close = self._finder.close(name)
            offer = f"closest: {', '.join(close)}" if close else f"it has {_some(self._profile)}"
            self._result.refusals.append(f'"{name}" is no column of {path}; {offer}')
        for said in dict.fromkeys(left.choices):
            self._result.refusals.append(f'"{said}" is a choice that was not understood')
        for name in dict.fromkeys(left.names):
            self._result.blockers.append(f'"{name}" was not understood; it is no column of {path}')
        self._idle += left.idle
        if self._idle:
            self._result.notes.append(f"Words without effect: {', '.join(dict.fromkeys(self._idle))}")

    def _bind_files(self) -> None:
        """Further files; a key that both tables have joins them where none is named."""
        used = self._used | self._asked
        files = bind_files(self._clause, self._words, self._properties, self._profile, self._others, used)
        self._arguments |= files.arguments
        self._result.refusals += files.refusals
        self._result.notes += files.notes
        self._result.blockers += files.blockers
        on = next((prop for prop in self._properties if prop.name == "on" and prop.is_required), None)
        key = common_key(self._profile, files.further[0]) if files.further else None
        if on and key and on.name not in self._arguments:
            self._arguments[on.name] = [key]
            self._result.notes.append(f"No key was named: {key}, which both tables have, was taken")

    def _make_calls(self, bound: Bound, chain: list[dict[str, Any]]) -> None:
        for prop in self._properties:
            if prop.name in PATH_NAMES and prop.kind in ("string", ""):
                self._arguments[prop.name] = self._profile.path
        if any("expression" in part for part in chain):
            # A condition is said once: as an expression, or by column, operator and value.
            for name in ("column", "operator", "value"):
                self._arguments.pop(name, None)
        calls = calls_of(self._properties, self._arguments, bound, chain)
        self._result.refusals += lacking(self._tool.name, self._properties, calls)
        self._result.calls = [] if self._result.refusals else calls
        self._result.is_chain = len(chain) > 1
        defaults = defaults_of(self._properties, calls[0])
        if defaults and not self._result.refusals:
            self._result.notes.append(defaults)


def _some(profile: Profile) -> str:
    names = [column.name for column in profile.columns]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "") if names else "no columns"
