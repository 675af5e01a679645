"""The figures as a table for people and as JSON for programs."""

import json
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.measure import Measurement, Missing, Row
from benchmarks.targets import TARGETS

#: Columns of a terminal. The table fits whatever its names are.
WIDTH = 80


def as_json(rows: Sequence[Row]) -> str:
    """Write {name: {median, unit, runs}}; what is missing is not in it."""
    figures = {
        row.name: {"median": row.median, "unit": row.unit, "runs": list(row.runs)}
        for row in rows
        if isinstance(row, Measurement)
    }
    return json.dumps(figures, indent=1) + "\n"


def as_table(sections: Sequence[tuple[str, Sequence[Row]]], machine: str) -> Table:
    """Draw one table, a section for each subject; what is missing says why."""
    table = Table(
        title="Interlock, measured",
        caption=machine,
        width=WIDTH,
        box=None,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("figure", overflow="fold")
    table.add_column("median", justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("±", justify="right", no_wrap=True)
    table.add_column("target", no_wrap=True)
    for subject, rows in sections:
        table.add_section()
        table.add_row(Text(subject, style="bold"))
        for row in rows:
            match row:
                case Measurement():
                    table.add_row(row.name, figure(row.median), row.unit, spread(row), target(row))
                case Missing():
                    table.add_row(f"{row.name}\n  not available: {row.reason}")
    return table


def figure(value: float) -> str:
    """Show three digits that count, or the whole number."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def spread(row: Measurement) -> str:
    """Show how far the runs lie apart: half of that, in parts of the median."""
    half = (max(row.runs) - min(row.runs)) / 2
    return f"{100 * half / abs(row.median):.0f}%" if half and row.median else ""


def target(row: Measurement) -> Text:
    """Show the bound and whether the median keeps it."""
    held_to = TARGETS.get(row.name)
    if held_to is None:
        return Text()
    met = held_to.met_by(row.median)
    return Text(f"{held_to} {'met' if met else 'MISSED'}", style="green" if met else "bold red")


def printed(table: Table) -> None:
    """Print it, no wider than `WIDTH` in a file too."""
    Console(width=WIDTH).print(table)
