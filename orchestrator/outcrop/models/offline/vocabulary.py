"""English as the offline model knows it: words that carry nothing, verbs that start a task, words of one meaning."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for lists that are read better as text."""
    return frozenset(text.split())


DATA_ENDINGS = tuple(
    sorted(word_set("csv tsv jsonl ndjson json xlsx xls parquet las log dat txt png html md tif tiff vrt"))
)

ABBREVIATIONS = ("e.g.", "i.e.", "etc.", "vs.", "approx.", "cf.", "incl.", "resp.", "fig.")

NUMERALS = {
    "two": 2.0,
    "three": 3.0,
    "four": 4.0,
    "five": 5.0,
    "six": 6.0,
    "seven": 7.0,
    "eight": 8.0,
    "nine": 9.0,
    "ten": 10.0,
    "eleven": 11.0,
    "twelve": 12.0,
    "thirteen": 13.0,
    "fourteen": 14.0,
    "fifteen": 15.0,
    "sixteen": 16.0,
    "seventeen": 17.0,
    "eighteen": 18.0,
    "nineteen": 19.0,
    "twenty": 20.0,
    "thirty": 30.0,
    "forty": 40.0,
    "fifty": 50.0,
    "sixty": 60.0,
    "seventy": 70.0,
    "eighty": 80.0,
    "ninety": 90.0,
}

# Both a lower-case word and a stem may stand here; the values are stems.
FOLDED = {
    "summari": "summar",
    "stats": "statist",
    "dedup": "dedupl",
    "dedupe": "dedupl",
    "deduped": "dedupl",
    "deduping": "dedupl",
    "drop": "remov",
    "delet": "remov",
    "discard": "remov",
    "elimin": "remov",
    "detect": "find",
    "identifi": "find",
    "record": "row",
    "observ": "row",
    "sampl": "row",
    "draw": "plot",
    "drawn": "plot",
    "chart": "plot",
    "graph": "plot",
    "display": "plot",
    "visual": "plot",
    "visualis": "plot",
    "calcul": "comput",
    "averag": "mean",
    "avg": "mean",
    "maximum": "max",
    "minimum": "min",
    "percentil": "quantil",
    "retain": "keep",
    "anomal": "anomali",
    "vs": "against",
    "vs.": "against",
    "versus": "against",
}

STOP = word_set(
    """
    a an the this that these those there here it its itself them they their theirs he his she her we us our you your
    i me my mine of on in into onto at to from for by with within without per via as and or but nor so if then else
    than is are was were be been being am do does did done has have had having will would shall should can could may
    might must not no only also too very just please kindly now first firstly second secondly third next finally
    lastly last after afterwards before while when where which who whose what how why all any some each every both
    either neither other others same such own more most much many few less least up down out over under again
    further well let lets let's i'd i'm we'd we'll don't doesn't isn't aren't etc etc. e.g. i.e. respectively
    between against versus vs vs. about across along among around during through using use used their one ones
    another everything anything
    """
)

# What does not count in a phrase: "plot against", "which elements follow" and "where are the samples" keep the rest.
MINOR = word_set(
    """
    a an the of on in to for is are was were be been do does did by with and or from at into it its this that these
    those them they your my our me us i we you all any
    """
)

# Verbs that ask for something without saying what: the object of the clause decides.
NEUTRAL = word_set(
    """
    tell show report find give get compute calculate make do run perform create produce work look need want use
    apply say determine provide see carry generate try start identify detect put take let have know like list go
    return present obtain derive state check what which how whether where who when why is are does
    """
)

# Words that begin a request and carry nothing; taken off the front of a clause.
POLITE = word_set(
    """
    please kindly can could would will you i i'd i'm we we'd want wants need needs like to also now first firstly
    second secondly third next finally lastly then and or but so after that afterwards let us let's lets me just
    again too help
    """
)

# Verbs by which a new task is recognised after a comma or "and", whether or not a tool can do it.
TASK_VERBS = word_set(
    """
    add aggregate analyse analyze annotate assess build calculate categorise categorize change check classify clean
    cluster combine compare compute convert copy correct correlate count create deduplicate dedupe delete describe
    detect determine display divide draw drop email estimate evaluate examine export extract fill filter find fit
    fix flag forecast generate give group identify impute inspect interpolate join keep krige list load look make
    map merge model normalise normalize partition pivot plot predict prepare print produce put rank recode regress
    remove rename repair replace report resample reshape run save say score search select send segment show simulate
    smooth sort split summarise summarize tabulate tell test train transform transpose upload validate verify
    visualise visualize winsorise work write
    """
)

QUESTIONS = word_set("what which how whether who")
DETERMINERS = word_set("a an the this that these those its their all any each every both some")
NEGATIONS = word_set("not don't never without no skip avoid except excluding exclude ignoring ignore")
CONDITIONS = frozenset({"if", "unless"})
HARMLESS_CONDITIONS = word_set("any needed necessary present possible exist applicable required")

# Words that continue a request rather than start one: "Use log10. Try three groups."
MODIFIERS = word_set("use using with by try pick choose set take")

# Clauses of nothing but these, as in "As a first step, ...", ask for nothing.
FILLERS = word_set("step start begin beginning end thing order thanks thank hello hi dear afterwards possible useful")

# What a table holds in general: never the name of a column that is missing.
GENERIC = word_set(
    """
    data dataset datasets table tables file files sample samples row rows record records observation observations
    column columns value values variable variables feature features field fields element elements analyte analytes
    measurement measurements assay assays result results number numbers numeric numerical count counts chemistry
    geochemistry composition concentration concentrations multi distribution distributions relationship relation
    statistic statistics summary summaries figure figures plot plots map maps chart charts graph histogram scatter
    axis axes scale scales log logs level levels unit units name names type types method methods way location
    locations coordinate coordinates position positions point points site sites set sets group groups cluster
    clusters label labels class classes category categories anomaly anomalies outlier outliers duplicate duplicates
    missing present real different new raw cleaned clean original typical whole entire full quick short simple brief
    detail details overview available following remaining rest left right top bottom high low higher lower highest
    lowest best worst strong strongest closely close together apart color shade size pair pairs matrix order exact
    collar collars hole holes well wells borehole boreholes station stations
    identical one part parts side terms term total detail general respect least half minimum maximum good bad
    """
)

# What samples are compared by when no columns are named: "by chemistry", "by all elements".
FEATURES = word_set(
    """
    chemistry geochemistry composition similarity element elements analyte analytes column columns variable
    variables feature features value values measurement measurements concentration concentrations multi numeric
    numerical
    """
)

# What a clause points back with, and a stem in the names of the tools that make it.
BACK_REFERENCES = {
    "group": ("cluster", "group"),
    "cluster": ("cluster", "group"),
    "class": ("cluster", "group", "classifi"),
    "label": ("cluster", "group", "label"),
    "anomali": ("anomali", "outlier"),
    "outlier": ("anomali", "outlier"),
    "score": ("anomali", "score", "reduc"),
    "compon": ("compon", "reduc"),
}
PRONOUNS = word_set("them these those it they")
