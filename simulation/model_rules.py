"""Which rows of the table of providers and models are old, and where to read what holds now."""

from argparse import ArgumentParser
from datetime import date

from aggregate.sending.known_models import ROWS


def main(parser: ArgumentParser) -> None:
    """Print the rows that are older than so many days, then how many there are."""
    parser.add_argument("--days", type=int, default=180)
    options = parser.parse_args()
    ages = [((date.today() - date.fromisoformat(row.as_of)).days, row) for row in ROWS]
    old = [(age, row) for age, row in ages if age > options.days]
    for age, row in sorted(old, key=lambda found: -found[0]):
        print(
            f"{age:5} days  {row.as_of}  {row.providers or 'any'} {row.models}: {', '.join(row.values)} ({row.source})"
        )
    print(f"{len(old)} of {len(ROWS)} rows are older than {options.days} days")
