"""Words that stand for one another in requests about tables, drill holes, logs, rasters and drawings.

Each line is one notion. A word that is said counts for itself, and for less as its notion, so that "borehole" finds
"hole" but finds "borehole" first. Element names are one notion too: which metal it is says nothing of the tool.
"""

from __future__ import annotations

import re
from functools import cache

from outcrop_specialists.columns.chemistry import NAMES, SYMBOLS

_NOTIONS = """
hole borehole drillhole well bore bores collar collars dh ddh boring
core drillcore interval intervals stretch section sections zone zones depths
picture draw drawing graph chart plot figure diagram illustrate illustration visualise visual graphic graphically
 image paint sketch display depict
column field variable attribute parameter analyte header heading headings property feature
row record line entry entries observation
table sheet spreadsheet dataset csv workbook export worksheet dataframe
file document deliverable download upload folder directory
average mean typical usual usually
big high highest large largest max maximum rich richest greatest top peak strongest most
small low lowest min minimum poorest weakest least bottom
exceed above over exceedance beyond surpass break breach violate higher greater richer
below under lower less lesser
category class kind type group categories family families domain species
missing empty blank null absent lacking unfilled nan void skip skipped omitted incomplete unknown
remove drop delete discard exclude omit eliminate purge purged throw leave
duplicate twice double repeat copy copies doubled redundant identical
different differ difference dissimilar unlike contrast
error mistake fault problem issue wrong defect trouble incorrect bad fishy flaw
strange odd unusual weird abnormal anomalous anomaly outlier freak exceptional atypical extraordinary outlying
 suspicious peculiar
check verify validate confirm test examine assess inspect review audit control
combine merge join attach link connect add append bring match pair fuse
stack concatenate glue union pile
relation relationship correlate correlation association dependence depend dependent linked connection relate
spread variability scatter dispersion vary variation variance range
location position place site spot whereabouts station geographic geographically
distance far near close closest nearest proximity nearby apart adjacent separation
lab laboratory assay assays assayed analysis analyses certificate
rock lithology geology formation unit stratum facies lithological geological
image raster tif tiff geotiff dem scene dtm srtm orthophoto
band channel layer
pixel cell
crop clip trim cut extract
projection crs coordinate utm epsg datum degrees wgs mga nad lat lon latitude longitude
cluster population segment partition subpopulation grouping
convert transform change turn translate recast
rename name call title label labelled
number count many tally
often frequency frequently occurrence occur turn
unit units measure measurement
curve log wireline las sonde logging logger
noise noisy jitter wiggle wiggles wiggly spiky spikes jagged erratic
grade content concentration level tenor
standard crm reference certified oreas srm
limit threshold cutoff guideline norm cut-off criterion maximum
date day month year calendar timestamp time
text string character letters word words
abbreviation shorthand code acronym short
spelling typed typing written spelled writing
elevation altitude height topography terrain relief ground
slope steep steepness gradient incline inclination
predict estimate model forecast infer
compress reduce condense shrink boil squeeze
trend increase decrease decline rise fall drop dropped climb climbs per
significance significant chance luck coincidence random statistically
certain sure true right correct
drift bias accuracy accurate off
precision repeatability reproducibility reproducible repeats replicates replicate
contamination contaminated carryover dirty clean cleaned smear smearing
area region permit licence tenement concession
script code program routine python pandas numpy algorithm
trajectory path trace deviate deviated deviation bent curved
sort order rank prioritise priority league arrange
summary summarise overview statistics describe characterise
"""

# These are said as words far more often than as elements.
_ALSO_WORDS = frozenset(
    {"lead", "tin", "As", "Be", "C", "F", "H", "I", "In", "K", "N", "O", "P", "S", "U", "V", "W", "Y"}
)
ELEMENT = "=element"
# What a request shows by its signs rather than says; a symbol of two letters at most is taken for an element.
SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("=fill value", re.compile(r"(?<![\w.])-?9{2,}(?:\.\d+)?(?!\w|\s?%)")),
    ("=decimal comma", re.compile(r"(?<![\d,])\d{1,3}(?:\.\d{3})*,(?:\d{1,2}|\d{4,})(?![\d,])|(?<!\d)0,\d+")),
    ("=below or above a limit", re.compile(r"(?:^|(?<=[\s(\"'“‘]))[<>]\s?(?:\d|sign|symbol|prefix)")),
    ("=condition", re.compile(r"\w\s?(?:[<>]=?|[=!]=)\s?-?\d")),
    ("=formula", re.compile(r"\)\s?[/*+-]|[/*+-]\s?\(|\w\s?[*^]\s?\w|\b[A-Za-z]\d?\s?[/+-]\s?[A-Za-z]\d\b")),
    ("=ratio", re.compile(r"(?<![\w/])[A-Z][a-z]?/[A-Z][a-z]?(?![\w/])")),
    ("=zero to one", re.compile(r"(?<![\d.])0(?:\.0)?\s?(?:-|–|to|and|\.\.)\s?1(?:\.0)?(?![\d.])")),
)


@cache
def notions() -> dict[str, str]:
    """The notion of each word that has one, as a term that no word can be."""
    lines = _NOTIONS.replace("\n ", " ").strip().splitlines()
    return {word: f"={line.split()[0]}" for line in reversed(lines) for word in line.split()}


@cache
def elements() -> frozenset[str]:
    """Names in lower case and symbols as they are written."""
    return (frozenset(NAMES) | SYMBOLS) - _ALSO_WORDS
