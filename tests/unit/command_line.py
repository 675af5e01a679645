"""Run one command line in this process, and look at everything it prints."""

from typer.testing import CliRunner, Result

from bot.__main__ import app


def interlock(*words: str, typed: str | None = None) -> Result:
    """Run one command line; whatever it prints, the token is not in it."""
    result = CliRunner().invoke(app, list(words), input=typed)
    assert "canary" not in result.output
    assert "Traceback" not in result.output
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def refused(*words: str, typed: str | None = None) -> str:
    """Run a command line that exits with 2 after one line on standard error; answer the line."""
    result = interlock(*words, typed=typed)
    assert (result.exit_code, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    return line
