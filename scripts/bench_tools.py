"""How fast our tools answer on a large table, beside plain polars and duckdb: `scripts/bench_tools.py [--rows N]`.

Makes a table of texts, numbers and dates as CSV. First the careful reading, typed copy included, against polars'
`read_csv`; then describe, group-by, missing counts, head and quantiles by our tools on the typed copy against the same
figures by polars and duckdb from the same parquet file; then clustering against MiniBatchKMeans. Every measurement is a
process of its own (imports are not counted, peak memory is the process's), the sides take turns, medians are shown.
Exits 1 where a goal is missed. Peers that are not installed are passed over.
"""

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

READING_GOAL, ANSWER_GOAL = 6.0, 1.3
SHORT_SECONDS = 0.1
"""Where all sides are quicker than this, a ratio says nothing: one published file and its record cost as much."""
CLUSTER_ROWS = 1_000_000
CHUNK = 1_000_000
NUMBERS = ["x", "y", "depth", "Au", "Cu", "As"]
PERCENTILES = [5, 25, 50, 75, 95]
MANY_PERCENTILES = [1, 2.5, 5, 10, 25, 50, 75, 90, 95, 97.5, 99]
TASKS = ("describe", "group by", "missing", "head", "quantiles")


def make_table(path: Path, rows: int) -> None:
    import numpy
    import polars as pl

    rng = numpy.random.default_rng(7)
    rocks = numpy.array(["granite", "basalt", "shale", "sandstone", "quartz vein", "schist"])
    with path.open("wb") as file:
        for start in range(0, rows, CHUNK):
            n = min(CHUNK, rows - start)
            day = numpy.datetime64("2015-01-01") + rng.integers(0, 3_000, n).astype("timedelta64[D]")
            chunk = pl.DataFrame(
                {
                    "sample": "S" + pl.Series(numpy.arange(start, start + n)).cast(pl.String).str.zfill(8),
                    "hole": "DH" + pl.Series(rng.integers(1, 2_000, n)).cast(pl.String),
                    "lith": rocks[rng.integers(0, 6, n)],
                    "x": (400_000 + 10_000 * rng.random(n)).round(2),
                    "y": (7_000_000 + 10_000 * rng.random(n)).round(2),
                    "depth": rng.integers(0, 900, n),
                    "logged": pl.Series(day).cast(pl.Date),
                    "Au": numpy.where(rng.random(n) < 0.05, numpy.nan, rng.lognormal(-3, 1.2, n).round(4)),
                    "Cu": rng.lognormal(4, 1, n).round(1),
                    "As": numpy.where(rng.random(n) < 0.02, numpy.nan, rng.lognormal(2, 1, n).round(2)),
                }
            )
            chunk.with_columns(pl.col("Au", "As").fill_nan(None)).write_csv(file, include_header=start == 0)


# --- one measurement, in a process of its own -------------------------------------------------------------------------


def ours(task: str, folder: Path) -> None:
    from outcrop_specialists.reading.tables import read_table
    from outcrop_specialists.tools.base import ToolContext
    from outcrop_specialists.tools.registry import get_tool

    context = ToolContext(folder, folder / "results", folder)
    calls = {
        "describe": ("summarize", {"columns": NUMBERS, "percentiles": PERCENTILES}),
        "group by": ("summarize", {"columns": ["Au"], "by": "lith", "percentiles": PERCENTILES}),
        "missing": ("check_missing", {}),
        "head": ("query_data", {"operation": "head"}),
        "quantiles": ("summarize", {"columns": ["Au"], "percentiles": MANY_PERCENTILES}),
        "cluster": ("cluster", {"columns": ["Au", "Cu", "As"], "n_clusters": 4}),
    }
    if task == "read":
        read_table(context, "table.csv")
        return
    name, arguments = calls[task]
    tool = get_tool(name)
    path = "cluster.csv" if task == "cluster" else "table.csv"
    tool.run(context, tool.arguments.model_validate({"path": path, **arguments}))


def plain_polars(task: str, folder: Path) -> None:
    import polars as pl

    if task == "read":
        pl.read_csv(folder / "table.csv")
        return
    scan = pl.scan_parquet(copy_of_table(folder))

    def figures(name: str) -> list[pl.Expr]:
        of = pl.col(name)
        plain = (of.count(), of.null_count(), of.mean(), of.std(), of.min(), of.max(), of.sum())
        return [expression.alias(f"{name}{number}") for number, expression in enumerate(plain)]

    def quantiles(name: str, wanted: list[float]) -> pl.Expr:
        return pl.col(name).quantile([percent / 100 for percent in wanted], "linear").alias(f"{name} quantiles")

    each = [pl.col("Au").quantile(percent / 100, "linear").alias(f"p{percent}") for percent in PERCENTILES]
    query = {
        "describe": lambda: scan.select(
            [expression for name in NUMBERS for expression in (*figures(name), quantiles(name, PERCENTILES))]
        ),
        "group by": lambda: scan.group_by("lith").agg(*figures("Au"), *each),
        "missing": lambda: scan.select(pl.all().null_count()),
        "head": lambda: scan.head(5),
        "quantiles": lambda: scan.select(*figures("Au"), quantiles("Au", MANY_PERCENTILES)),
    }[task]
    query().collect()


def plain_duckdb(task: str, folder: Path) -> None:
    import duckdb

    if task == "read":
        duckdb.execute(f"create table t as select * from read_csv('{folder / 'table.csv'}')")
        return

    def figures(name: str, wanted: list[float]) -> str:
        shares = ", ".join(str(percent / 100) for percent in wanted)
        plain = ", ".join(f'{function}("{name}")' for function in ("count", "avg", "stddev_samp", "min", "max", "sum"))
        return f'{plain}, count(*) - count("{name}"), quantile_cont("{name}"::double, [{shares}])'

    source = f"from '{copy_of_table(folder)}'"
    columns = [row[0] for row in duckdb.execute(f"describe select * {source}").fetchall()]
    query = {
        "describe": f"select {', '.join(figures(name, PERCENTILES) for name in NUMBERS)} {source}",
        "group by": f"select lith, {figures('Au', PERCENTILES)} {source} group by lith",
        "missing": f"select {', '.join(f'count(*) - count({name})' for name in map(quoted, columns))} {source}",
        "head": f"select * {source} limit 5",
        "quantiles": f"select {figures('Au', MANY_PERCENTILES)} {source}",
    }[task]
    duckdb.execute(query).fetchall()


def mini_batch(task: str, folder: Path) -> None:
    import polars as pl
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.preprocessing import StandardScaler

    rows = pl.read_csv(folder / "cluster.csv", columns=["Au", "Cu", "As"]).drop_nulls()
    MiniBatchKMeans(4, n_init=3, random_state=42).fit_predict(StandardScaler().fit_transform(rows.to_numpy()))


SIDES = {"ours": ours, "polars": plain_polars, "duckdb": plain_duckdb, "MiniBatchKMeans": mini_batch}
TOOLS = "outcrop_specialists.tools"
IMPORTS = {
    # What the nursery has imported before a specialist begins.
    "ours": "polars numpy sklearn.cluster sklearn.preprocessing outcrop_specialists.reading.regular "
    f"outcrop_specialists.reading.cache {TOOLS}.statistics.summarize {TOOLS}.inspection.check_missing "
    f"{TOOLS}.inspection.query_data {TOOLS}.multivariate.cluster",
    "polars": "polars",
    "duckdb": "duckdb",
    "MiniBatchKMeans": "polars sklearn.cluster sklearn.preprocessing",
}


def quoted(name: str) -> str:
    return f'"{name}"'


def copy_of_table(folder: Path) -> Path:
    """The typed copy that our reading left: the largest parquet file of the cache."""
    return max((folder / ".outcrop/cache/tables").glob("*.parquet"), key=lambda path: path.stat().st_size)


def measure_here(side: str, task: str, folder: Path) -> None:
    for module in IMPORTS[side].split():
        __import__(module)
    started, used = time.perf_counter(), time.process_time()
    SIDES[side](task, folder)
    found = {
        "seconds": time.perf_counter() - started,
        "cpu": time.process_time() - used,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(found))


# --- the table of results ---------------------------------------------------------------------------------------------


def measured(side: str, task: str, folder: Path) -> dict[str, float]:
    if side == "ours":
        shutil.rmtree(folder / "results", ignore_errors=True)
        if task == "read":
            shutil.rmtree(folder / ".outcrop/cache/tables", ignore_errors=True)
            shutil.rmtree(folder / ".outcrop/cache/hashes", ignore_errors=True)
    command = [sys.executable, __file__, "--side", side, "--task", task, "--folder", str(folder)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(found.stdout.splitlines()[-1]))


def compare(task: str, sides: list[str], rounds: int, folder: Path) -> dict[str, dict[str, float]]:
    taken: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    for number in range(rounds):
        for side in sides[number % len(sides) :] + sides[: number % len(sides)]:
            taken[side].append(measured(side, task, folder))
    return {
        side: {key: statistics.median(each[key] for each in found) for key in found[0]} for side, found in taken.items()
    }


def show(task: str, found: dict[str, dict[str, float]], goal: float | None, rivals: list[str]) -> bool:
    best = min(found[side]["seconds"] for side in rivals)
    ratio = found["ours"]["seconds"] / best
    of_cpu = found["ours"]["cpu"] / max(0.001, min(found[side]["cpu"] for side in rivals))
    is_short = max(found["ours"]["seconds"], best) < SHORT_SECONDS
    is_kept = goal is None or ratio <= goal or is_short
    cells = "; ".join(
        f"{side} {each['seconds']:.3f} s ({each['cpu']:.2f} CPU, {each['peak_mb']:.0f} MB)"
        for side, each in found.items()
    )
    aim = "" if goal is None else f" (goal {goal:g}{', all sides short' if is_short else ''})"
    print(
        f"{task:10s} ratio {ratio:5.2f}{aim}, of CPU {of_cpu:.2f}: {cells}{'' if is_kept else '   MISSED'}", flush=True
    )
    return is_kept


def bench(folder: Path, rows: int, rounds: int, tasks: list[str]) -> int:
    (folder / ".outcrop" / "cache").mkdir(parents=True, mode=0o700)
    for place in (folder / ".outcrop", folder / ".outcrop" / "cache"):
        place.chmod(0o700)
    for name, wanted in (("table.csv", rows), ("cluster.csv", min(rows, CLUSTER_ROWS))):
        # In a process of its own: a child's peak memory begins with that of the process that started it.
        command = [sys.executable, __file__, "--rows", str(wanted), "--make", str(folder / name)]
        subprocess.run(command, check=True)
    peers = ["polars"]
    if find_spec("duckdb"):
        peers.append("duckdb")
    else:
        print("duckdb not installed: polars is the only peer")
    print(f"{rows} rows, {(folder / 'table.csv').stat().st_size / 1e6:.0f} MB as CSV, medians of {rounds}")
    kept = []
    if "read" in tasks:
        kept.append(show("read", compare("read", ["ours", *peers], rounds, folder), READING_GOAL, ["polars"]))
    else:
        measured("ours", "read", folder)
    for task in TASKS:
        if task in tasks:
            kept.append(show(task, compare(task, ["ours", *peers], rounds, folder), ANSWER_GOAL, peers))
    if "cluster" in tasks:
        found = compare("cluster", ["ours", "MiniBatchKMeans"], min(rounds, 3), folder)
        show("cluster", found, None, ["MiniBatchKMeans"])
    return 0 if all(kept) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--only", nargs="*", choices=("read", *TASKS, "cluster"), help="tasks to measure; all if not given"
    )
    for name in ("--side", "--task", "--folder", "--make"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.side:
        measure_here(chosen.side, chosen.task, Path(chosen.folder))
        return 0
    if chosen.make:
        make_table(Path(chosen.make), chosen.rows)
        return 0
    with tempfile.TemporaryDirectory(dir=".") as temporary:
        return bench(Path(temporary).resolve(), chosen.rows, chosen.rounds, chosen.only or ["read", *TASKS, "cluster"])


if __name__ == "__main__":
    sys.exit(main())
