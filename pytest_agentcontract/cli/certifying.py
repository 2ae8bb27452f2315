"""Commands around certificates: keygen, certify, verify, reproduce."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_agentcontract.cli.group import main, told
from pytest_agentcontract.errors import CertificateError, UsageError
from pytest_agentcontract.plugin import runtimes
from pytest_agentcontract.report import exits, reading
from pytest_agentcontract.report.text import counted, harmless

if TYPE_CHECKING:
    from pytest_agentcontract.certificate.predicate import Found
    from pytest_agentcontract.certificate.verify import Verified
    from pytest_agentcontract.scenario.profile import Profile

_FILE = click.Path(path_type=Path)
_PASSED_ON = {"ignore_unknown_options": True}
_ARGUMENTS = click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
_LONGEST = 50
_WIDTH = 118


@main.command()
@click.option(
    "--output", "-o", required=True, metavar="FILE", type=_FILE, help="A new file; FILE.pub stands beside it."
)
@told
def keygen(output: Path) -> None:
    """Make a pair of ed25519 keys: one to sign certificates with, which stays with you, and one for who verifies."""
    from pytest_agentcontract.certificate import keys  # noqa: PLC0415 - for these commands only

    beside, public = keys.generate(output)
    click.echo(f"{output}: the private key; keep it to yourself")
    click.echo(f"{beside}: the public key, to be given away; its id is {public.keyid}")


@main.command(context_settings=_PASSED_ON)
@click.option("--runtime", "-r", "name", required=True, metavar="NAME", help="The runtime to judge.")
@click.option("--key", required=True, metavar="FILE", type=_FILE, help="The private key to sign with.")
@click.option("--output", "-o", required=True, metavar="FILE", type=_FILE, help="A new file for the certificate.")
@click.option("--report", "ready", metavar="FILE", type=_FILE, help="A report just made, in place of a run.")
@_ARGUMENTS
@told
def certify(name: str, key: Path, output: Path, ready: Path | None, pytest_args: tuple[str, ...]) -> None:
    """Judge a runtime by the whole suite, and sign what was found; options of pytest can follow.

    A runtime that fails is certified as what it is. The exit status is 0 for the highest level, else 1.
    """
    from pytest_agentcontract.certificate import bundle, issue, keys  # noqa: PLC0415 - for these commands only

    if ready and pytest_args:
        raise UsageError(f"{pytest_args[0]} and --report at once", remedy="With --report nothing is run.")
    bundle.free(output)
    signing, profile = keys.load_signing(key), _runtime(name)
    content = reading.content(ready) if ready else _judged(name, pytest_args)
    text, found = issue.certificate(content, str(ready or "the report of this run"), profile, signing)
    bundle.write(output, text)
    click.echo(f"{output}: signed by {signing.public.keyid}")
    _tell(found)
    sys.exit(int(bool(found.stated.reasons)))


@main.command()
@click.argument("file", type=_FILE)
@click.option("--key", metavar="FILE", type=_FILE, help="The public key of whom it is to be signed by.")
@told
def verify(file: Path, key: Path | None) -> None:
    """Say whether a certificate is what it claims to be: its signature, its digests, and its verdict, derived again.

    The exit status is 0 if so, 1 if it is refused, 24 if another version of the suite made it.
    """
    came_of = _verified(file, key)
    if came_of.found is None:
        raise CertificateError("can't be verified", where=str(file))
    click.echo(f"{file}: verified")
    _tell(came_of.found)
    for note in came_of.notes:
        click.echo(f"  note: {harmless(note)}")
    sys.exit(0 if came_of.same_suite else exits.OTHER_SUITE)


@main.command(context_settings=_PASSED_ON)
@click.argument("file", type=_FILE)
@click.option("--key", metavar="FILE", type=_FILE, help="The public key of whom it is to be signed by.")
@_ARGUMENTS
@told
def reproduce(file: Path, key: Path | None, pytest_args: tuple[str, ...]) -> None:
    """Judge the runtime of a certificate again, and compare verdict by verdict; options of pytest can follow.

    The exit status is 0 if all verdicts are the same, else 1.
    """
    from pytest_agentcontract.certificate import reproduce as again  # noqa: PLC0415 - for these commands only
    from pytest_agentcontract.drivers import base  # noqa: PLC0415 - the same

    of = _verified(file, key).subject
    if of is None:
        raise CertificateError("can't be verified", where=str(file))
    name = of.runtime.name
    profile = _runtime(name)
    again.fit(of, profile, of.report.header.suite.version if of.runtime.embedded else base.version(profile))
    strict = ["--agent-contract-strict"] if of.report.header.strict else []
    now = reading.parse(_judged(name, (*strict, *pytest_args, *again.selection(of))), "the report of this run")
    differing = list(again.differences(of.report, now))
    for line in differing[:_LONGEST]:
        click.echo(harmless(line))
    if len(differing) > _LONGEST:
        click.echo(f"... and {len(differing) - _LONGEST} more")
    verdicts = sum(len(judged.checks) for judged in of.report.cases)
    click.echo(f"{file}: {counted(verdicts, 'verdict')} compared, {counted(len(differing), 'difference')}")
    sys.exit(int(bool(differing)))


def _verified(file: Path, key: Path | None) -> Verified:
    """Verify a certificate; end with its reasons where it is refused."""
    from pytest_agentcontract.certificate import bundle, keys  # noqa: PLC0415 - for these commands only
    from pytest_agentcontract.certificate.verify import verify as verified  # noqa: PLC0415 - the same

    keys.available()
    came_of = verified(bundle.content(file), keys.load_public(key) if key else None, _known)
    if came_of.reasons:
        click.echo(f"{file}: REFUSED", err=True)
        for reason in came_of.reasons[:_LONGEST]:
            click.echo(f"  - {harmless(reason)}", err=True)
        sys.exit(1)
    return came_of


def _runtime(name: str) -> Profile:
    return runtimes.find(name, runtimes.configured_in(Path.cwd()))


def _known(name: str) -> Profile | None:
    try:
        return _runtime(name)
    except UsageError:
        return None


def _judged(name: str, arguments: Sequence[str]) -> bytes:
    """Judge a runtime in this process; return the report."""
    import pytest  # noqa: PLC0415 - the other commands don't need it

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.jsonl")
        options = [f"--agent-contract-runtime={name}", f"--agent-contract-report={path}"]
        status = pytest.main(["--agent-contract", *options, *arguments])
        if not path.exists():
            raise UsageError(f"nothing was judged: the run ended with exit status {int(status)}")
        return path.read_bytes()


def _tell(found: Found) -> None:
    click.echo(f"  level: {found.stated.name} (self-assessed)")
    for level, row in found.tally.items():
        counts = ", ".join(f"{len(ids)} {_spaced(bucket)}" for bucket, ids in row.items() if ids)
        click.echo(f"  {level}: {counts or 'none'}")
    click.echo(click.wrap_text(harmless(found.summary), _WIDTH, initial_indent="  ", subsequent_indent="  "))


def _spaced(bucket: str) -> str:
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in bucket)
