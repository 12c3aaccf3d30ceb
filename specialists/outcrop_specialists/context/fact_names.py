"""Whether a sentence names somebody or something: a word with a capital inside it, or words by which one is named."""

from __future__ import annotations

import re

from outcrop_specialists.context.fact_signs import words_of

# Behind a word that goes on; of Latin letters beyond À some are capitals and some are not.
_WORD_INSIDE = re.compile(r"[A-ZÀ-ÖØ-ÞĀ-Ž](?<=(?:[^\W_A-Z]|[,;)’\"]) .)[^\W\d_]+")
_NAMING = {
    *("called", "named", "known", "owned", "run", "led", "belongs", "belong", "name", "appelle", "llama", "chiama"),
    *("pertenece", "appartient", "appartiene", "pertence", "chama", "heißt", "heisst", "heißen", "gehört", "heet"),
    *("behoort", "heter", "tillhör", "nazywa", "należy"),
}
_NAMED = re.compile(
    r"\b(?:is|are|was|were) (?:called|named|known as|owned by|run by|led by)|\bbelongs? to\b|\bthe name of\b|"
    r"\bs[’']appelle|\bse llama|\bsi chiama|\bpertenece a|\bappartient à|\bappartiene a|\bpertence a|\bchama-se|"
    r"\b(?:heißt|heisst|heißen|gehört|heet|behoort|heter|tillhör|nazywa się|należy do)\b",
    re.IGNORECASE,
)
# In German every noun has a capital: only what cannot be one counts as a name.
_GERMAN = {
    *("und", "ist", "sind", "nicht", "für", "wird", "werden", "eine", "einen", "einem", "einer", "eines", "der", "dem"),
    *("des", "das", "sich", "auch", "wurde", "wurden", "beim", "zum", "zur", "ich", "wir"),
    *("die", "den", "mit", "auf", "von", "ein", "nach", "über", "unter", "bei", "noch", "sie"),
}
_GERMAN_NAME = re.compile(
    r"\b(?:namens|genannt|Herrn?|Frau|Firma|von) [A-ZÄÖÜ][a-zäöüß]+|"
    r"(?<=[a-zäöüß,] )[A-ZÄÖÜ][a-zäöüß]+ [A-ZÄÖÜ][a-zäöüß]+\b"
)
_NO_NAMES = {"Ok", "OK", "Okay", "Yes", "No", "The", "This", "That", "It", "We"}


def has_name(text: str) -> bool:
    """Whether a sentence has a proper name behind its first word, or says what something is called."""
    words, _ = words_of(text)
    if not words.isdisjoint(_NAMING) and _NAMED.search(text):
        return True
    if not words.isdisjoint(_GERMAN):
        return _GERMAN_NAME.search(text) is not None
    return any(found[0][0].isupper() and found[0] not in _NO_NAMES for found in _WORD_INSIDE.finditer(text))
