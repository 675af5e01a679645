"""Show the settings as they hold in one place, and find out where that is."""

from collections.abc import Mapping
from dataclasses import asdict, replace

from bot.cli.portal import where_is
from bot.config import Loaded, Place
from bot.errors import ConfigInvalid, StartupFailed


async def find(loaded: Loaded, given: Place) -> tuple[Place, str]:
    """
    Answer where *given* is, and a line that says how that is known.

    Discord is asked about a channel that is given alone; whoever says more is believed. Raise
    `ConfigInvalid` for what is no id.
    """
    problems = [
        f'flag --{name}: "{id_}" is no Discord id; an id has digits only'
        for name, id_ in asdict(given).items()
        if id_ is not None and not id_.isdecimal()
    ]
    if problems:
        raise ConfigInvalid(problems)
    if given.channel is None or given != Place(channel=given.channel):
        return given, f"{_told(given)}, as the flags say; Discord was not asked."
    token, api = loaded.settings.discord.token, loaded.settings.discord.api
    if token is None:
        return given, _assumed(given, "there is no token to ask Discord with")
    try:
        found = await where_is(token.get_secret_value(), api, given.channel)
    except StartupFailed as error:
        return given, _assumed(given, str(error))
    return found, f"{_told(found)}, as Discord says."


def placed(loaded: Loaded, place: Place) -> Loaded:
    """Put what holds in *place* into the tables for all, and into the origins where it stands."""
    settings = loaded.settings
    tables = settings.tables(place)
    cogs = {name for table in tables.values() for name in table.cogs} | set(settings.cogs)
    there = settings.model_copy(
        update={
            "conversation": settings.at(place),
            "cogs": {name: settings.cog_table(name, place) for name in sorted(cogs)},
            "guilds": {},
            "categories": {},
            "channels": {},
        }
    )
    return replace(loaded, settings=there, origins=_origins(loaded.origins, list(tables)))


def _origins(origins: Mapping[str, str], tables: list[str]) -> dict[str, str]:
    kept = {key: origin for key, origin in origins.items() if not _is_of_a_place(key)}
    for table in tables:
        for key, origin in origins.items():
            if key.startswith(f"{table}."):
                rest = key.removeprefix(f"{table}.")
                whole = rest if rest.startswith("cogs.") else f"conversation.{rest}"
                kept[whole] = f"{origin} [{table}]"
    return kept


def _is_of_a_place(key: str) -> bool:
    return key.startswith(("guilds.", "categories.", "channels."))


def _assumed(given: Place, why: str) -> str:
    return (
        f"{_told(given)}, taken to be in no thread, category or guild: {why};"
        " --parent, --category and --guild say more."
    )


def _told(place: Place) -> str:
    parts = {
        "channel": place.channel,
        "in channel": place.parent,
        "category": place.category,
        "guild": place.guild,
    }
    return ", ".join(f"{name} {id_}" for name, id_ in parts.items() if id_).capitalize()
