"""What people write so that it binds, counts or went wrong is known as such, in their languages, and is never torn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_specialists.context.fact_words import BINDING, BY_USER, is_concrete, sentences, weight

CONSTRAINTS = [
    "No connection through Frankfurt.",
    "The client will not fly with Ryanair.",
    "They won't sign it.",
    "Nobody may touch the northern trench.",
    "It mustn't use kriging.",
    "The supplier isn't allowed on site.",
    "Use medians rather than means.",
    "Take medians instead of means.",
    "Skip the western block.",
    "Hold back the assays of the smelter.",
    "Leave out the duplicates.",
    "Ignore the trench samples.",
    "We chose ordinary kriging over inverse distance.",
    "The client rejected the blue palette.",
    "Le seuil ne doit pas dépasser le maximum du client.",
    "N'envoyez jamais les échantillons par la poste.",
    "Utilisez seulement la médiane.",
    "Die nördliche Halde darf nicht verwendet werden.",
    "Nur Gold und Silber sind gefragt.",
    "Der Bericht muss ohne Karten auskommen.",
    "Kein Flug über Nacht.",
    "Mittelwerte nie, Mediane statt Mittelwerten.",
    "El informe debe ir sin mapas.",
    "No use nunca el lote viejo.",
    "Sólo oro y plata.",
    "Не использовать северный отвал.",
    "不要使用实验室乙的数据。",
]
OTHER_LANGUAGES = [
    "Gebruik nooit het oude laboratorium.",
    "Het rapport moet zonder kaarten.",
    "Dat mag niet.",
    "Eski laboratuvar asla kullanılmayacak.",
    "Bu yasaktır.",
    "Não usar o laboratório antigo em caso algum.",
    "O relatório deve ser curto.",
    "Nunca contacte o cliente.",
    "Non usare mai il vecchio forno.",
    "Il rapporto deve essere breve.",
    "Nigdy nie używaj starej próbki.",
    "Raport musi być krótki.",
    "Använd aldrig den gamla ugnen.",
    "Rapporten måste vara kort.",
    "Нельзя использовать старую печь.",
    "Отчёт должен быть коротким.",
    "Никогда не звоните клиенту.",
    "不得使用旧样品。",
    "必须使用中位数。",
    "古い試料を使ってはいけません。",
    "必ず中央値を使うこと。",
]
DECISIONS = [
    "We settled on kriging over inverse distance.",
    "Let us go with the robust estimator.",
    "We picked the northern zone.",
    "They opted for local kriging.",
    "It was agreed that the lab changes.",
    "The team decided for medians.",
    "The median is to be used.",
    "Use the median instead of the mean.",
    "We stick with the old colours.",
    "From now on the second lab does the work.",
    "The twin is ruled out.",
    "Wir haben uns auf Kriging geeinigt.",
    "Nous avons choisi le krigeage.",
    "Hemos elegido el kriging.",
    "Abbiamo deciso di usare la mediana.",
    "We hebben voor kriging gekozen.",
    "Решили взять кригинг.",
]
NAMES = [
    "The sampler is called Okonkwo.",
    "The southern claim belongs to Maria Lindqvist.",
    "The camp lies near Kalgoorlie.",
    "Ask the driller, Łukasz.",
    "The dog is called rex.",
    "Der Bohrmeister heißt Petersen.",
    "Die Proben sind von Anna.",
    "Die Lizenz wird von Maria Huber gehalten.",
    "Le foreur s'appelle Dubois.",
]
GERMAN_TALK = [
    "Ich sehe mir die Tabelle an und gehe weiter.",
    "Der Bericht über die Proben ist in Arbeit.",
    "Die Arbeit ging gut voran.",
    "Das Ergebnis der Rechnung sieht gut aus.",
]
FIGURES_IN_WORDS = [
    "Budget is twelve thousand dollars.",
    "Half of the tonnage is oxide.",
    "The cut-off is a quarter of a gram per tonne.",
    "Deliver it on the first of May.",
    "Die Abgabe ist am ersten Mai.",
    "Rendez-le le premier juin.",
    "La entrega es el dos de marzo.",
    "The grade is ٣٤ ppm.",
    "Au ≥ ½ g/t is ore.",
]
ERRORS = [
    "Segmentation fault (core dumped)",
    "Permission denied: results",
    "Timed out waiting for the lab",
    "Out of memory",
    "Killed",
    "Traceback (most recent call last):",
    "cat: notes: No such file or directory",
    "Connection refused by the license server",
]
PLACES = [
    r"The path is C:\data\north block\soil.",
    r"It lies on \\server\share of lab.",
    "The data lie in my data/north block.",
    "Sample ids begin with a letter Q.",
    "The column is Au_ppm.",
]


@pytest.mark.parametrize("text", [*OTHER_LANGUAGES, *DECISIONS])
def test_what_binds_and_what_was_decided_weigh_as_such_in_any_of_the_languages(text: str) -> None:
    assert weight(text) >= BINDING
    assert is_concrete(text)


@pytest.mark.parametrize("text", NAMES)
def test_a_name_weighs_more_than_an_ordinary_figure_and_less_than_one_with_its_unit(text: str) -> None:
    assert is_concrete(text)
    assert weight("The third mean is 5.") < weight(text) < weight("The third mean is 5 ppm.")


@given(st.sampled_from(CONSTRAINTS + FIGURES_IN_WORDS + PLACES), st.integers(0, 10**9))
def test_which_digits_a_fact_has_weighs_nothing(text: str, figure: int) -> None:
    assert weight(f"{text} x = {figure}") == weight(f"{text} x = {figure % 7}")


@pytest.mark.parametrize(
    "text", [*CONSTRAINTS, *OTHER_LANGUAGES, *DECISIONS, *NAMES, *FIGURES_IN_WORDS, *ERRORS, *PLACES]
)
def test_what_binds_counts_or_went_wrong_is_concrete(text: str) -> None:
    assert is_concrete(text)


@pytest.mark.parametrize(
    "text", ["I look at how the table is made.", "The work went well so far.", "Good morning!", *GERMAN_TALK]
)
def test_talk_is_not(text: str) -> None:
    assert not is_concrete(text)


@pytest.mark.parametrize(
    "text",
    [
        "Am 4. Mai geht es los",
        "Am 3. Tag wird gebohrt",
        "Do not exceed max. 5 ppm",
        "See sample no. 7 of the lot",
        "Take e.g. Gold",
        "Use approx. 20 holes",
        "Nimm z. B. Kupfer",
        "Ask Dr. Brown first",
    ],
)
def test_a_sentence_is_not_torn_at_an_abbreviation_or_an_ordinal_point(text: str) -> None:
    assert sentences(f"Hello there. {text}. That was it.") == ["Hello there.", f"{text}.", "That was it."]


def test_sentences_end_where_they_end() -> None:
    assert sentences("The value was 15. The next is 7! Is it? Yes\nLine; Other。不要") == [
        "The value was 15.",
        "The next is 7!",
        "Is it?",
        "Yes",
        "Line;",
        "Other。",
        "不要",
    ]


def test_what_binds_weighs_more_than_what_is_firm_and_that_more_than_a_figure() -> None:
    figure = weight("Column c3 has a mean of 1.204 ppm and a maximum of 3 ppm over 4 samples.")
    for firm in ("It ends on 2027-03-31.", "It costs 412.75 EUR.", "It is in LB-2291.", "It is in a/b.csv.", "Killed"):
        assert figure < weight(firm) < weight(f"{firm} It must not change.") < BY_USER + figure
