"""What a long form has counted: a table for people, JSON for programs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

#: Columns of a terminal. The table fits whatever its names are.
WIDTH = 80


@dataclass(frozen=True, slots=True)
class Proof:
    """One long form: what it counted, and what broke, if anything did."""

    name: str
    figures: Mapping[str, float]
    #: Each a reason why the proof fails.
    broken: Sequence[str] = field(default=())


def show(proofs: Sequence[Proof]) -> None:
    """Print a table, and below it what broke."""
    table = Table(title="Interlock under force", width=WIDTH, box=None)
    table.add_column("figure", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    for proof in proofs:
        table.add_section()
        verdict = "[red]BROKEN[/]" if proof.broken else "holds"
        table.add_row(f"[bold]{proof.name}[/]", verdict)
        for name, value in proof.figures.items():
            table.add_row(f"  {name}", f"{value:,.1f}".removesuffix(".0"))
    console = Console(width=WIDTH)
    console.print(table)
    for proof in proofs:
        for reason in proof.broken:
            console.print(f"{proof.name}: {reason}", style="red", markup=False)


def as_json(proofs: Sequence[Proof]) -> str:
    """Write {proof: {figure: value, "broken": reasons}}."""
    whole = {p.name: {**p.figures, "broken": list(p.broken)} for p in proofs}
    return json.dumps(whole, indent=1) + "\n"
