"""Write the chemical analyses of 178 wines that scikit-learn carries (UCI Wine, CC BY 4.0) as a CSV file."""

import csv
import sys
from pathlib import Path

from sklearn.datasets import load_wine


def main(path: Path) -> None:
    wines = load_wine()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["sample", *wines.feature_names])
        writer.writerows([f"W{number:03d}", *map(repr, map(float, row))] for number, row in enumerate(wines.data, 1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
