"""What every table of the settings is."""

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """A frozen table in which a key that it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
