"""Whether settings hold together, and what is wrong in words. Pure.

Beside what the types say: ids of endpoints are unique and none is the Practice model's, addresses can be read, the
own proxy has an address, and the name of the certificate file is one line of text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from pydantic import ValidationError

from app.settings.addresses import AddressProblem, read_address
from app.settings.schema import Network, Settings

BUILT_IN_ID: Final = "practice"
PROXY_SCHEMES: Final = ("http", "https", "socks5", "socks5h")

Place = tuple[int | str, ...]
"""Where a value stands: names of fields, keys and positions, from the outside in."""
_PROFILES: Final[Place] = ("agents", "profiles")
_RULES: Final = 4
"""Length of the place of a profile's rules; that of one rule is longer."""
_DENIAL: Final[dict[str, object]] = {"pattern": ".*", "effect": "deny"}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at `place`. `text` is a sentence for people."""

    place: Place
    text: str


def validate(value: Mapping[str, object]) -> Settings | tuple[Problem, ...]:
    """Return `value` as settings, or everything that is wrong with it: never nothing."""
    try:
        settings = Settings.model_validate(value)
    except ValidationError as error:
        return tuple(
            _of_types(detail["loc"], detail["type"], detail.get("ctx", {}), value) for detail in error.errors()
        )
    return _broken_rules(settings) or settings


def mend(value: dict[str, object]) -> tuple[Settings, tuple[Problem, ...]]:
    """Return the settings that are left without whatever is wrong in `value`, which is changed, and what was wrong.

    A field goes back to its default; an endpoint or model without something it needs is left out. A rule of a profile
    counts as one that denies every tool: whatever it was to say, nothing is granted by a slip.
    """
    found: list[Problem] = []
    while not isinstance(result := validate(value), Settings):
        found.extend(result)
        removed: set[Place] = set()
        # The last first: what is removed shifts the positions behind it.
        for place in [_reachable(value, problem.place) for problem in reversed(result)]:
            if any(place[:depth] in removed for depth in range(len(place) + 1)):
                continue
            if place[:2] == _PROFILES and place[3:4] == ("rules",):
                _put(value, place[:5], dict(_DENIAL) if len(place) > _RULES else [_DENIAL])
            else:
                _remove(value, place)
            removed.add(place)
    return result, tuple(dict.fromkeys(found))


def describe(error: ValidationError) -> str:
    """Return what is wrong with a value that never became part of the settings: a sentence for people."""
    detail = error.errors()[0]
    return _of_types(detail["loc"], detail["type"], detail.get("ctx", {}), {}).text


def _reachable(value: object, place: Place) -> Place:
    """Return the part of `place` that is there: some errors name what is missing, or a type."""
    for depth, step in enumerate(place):
        if not _leads_on(value, step):
            return place[:depth]
        value = _step(value, step)
    return place


def _remove(value: dict[str, object], place: Place) -> None:
    owner: object = value
    for step in place[:-1]:
        owner = _step(owner, step)
    if place and isinstance(owner, dict | list):
        del owner[place[-1]]  # type: ignore[arg-type] # a position in a list, a key in a dict
    else:
        value.clear()


def _put(value: dict[str, object], place: Place, new: object) -> None:
    owner: object = value
    for step in place[:-1]:
        owner = _step(owner, step)
    owner[place[-1]] = new  # type: ignore[index] # a position in a list, a key in a dict


def _step(value: object, step: int | str) -> object:
    return value[step] if isinstance(value, dict | list) else None  # type: ignore[index]


def _leads_on(value: object, step: int | str) -> bool:
    """Whether `step` can be taken from `value`."""
    if isinstance(value, dict):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)


# --- rules between values ---


def _broken_rules(settings: Settings) -> tuple[Problem, ...]:
    problems: list[Problem] = []
    seen: set[str] = set()
    for position, endpoint in enumerate(settings.endpoints):
        place: Place = ("endpoints", position)
        address = read_address(endpoint.base_url, endpoint.dialect)
        if endpoint.id == BUILT_IN_ID:
            problems.append(Problem(place, f"A provider can't be called “{BUILT_IN_ID}”: that is the Practice model."))
        elif endpoint.id in seen:
            problems.append(Problem(place, f"There are two providers with the id “{endpoint.id}”."))
        elif isinstance(address, AddressProblem):
            problems.append(Problem(place, f"The address of {endpoint.name}: {address.text}"))
        seen.add(endpoint.id)
    return (*problems, *_network_problems(settings.network))


def _network_problems(network: Network) -> list[Problem]:
    problems = []
    if network.proxy == "custom" and (text := proxy_problem(network.proxy_url)):
        problems.append(Problem(("network", "proxy"), text))
    if any(not character.isprintable() for character in network.ca_file):
        problems.append(Problem(("network", "ca_file"), "The name of the certificate file must be one line of text."))
    return problems


def proxy_problem(url: str) -> str:
    """Return a sentence if `url` is no address of a proxy, empty if it is."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return "The port of the proxy is not a number from 1 to 65535."
    if parts.scheme not in PROXY_SCHEMES:
        return "The address of the proxy must begin with http://, https:// or socks5://."
    if not parts.hostname or any(character.isspace() for character in url.strip()):
        return "The address of the proxy has no host."
    if not port:
        return "The address of the proxy needs a port at its end, such as :8080."
    if parts.username is not None:
        return "A name and password can't be part of the proxy's address: they would stand in a plain file."
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        return "The address of the proxy ends with its port."
    return ""


# --- rules of single values, as pydantic names them ---

_FIELDS: Final = {
    "id": "Id",
    "name": "Name",
    "maker": "Kind of provider",
    "dialect": "Way of speaking",
    "base_url": "Address",
    "needs_key": "Needs a key",
    "key_kept": "Place of the key",
    "verify": "Check the certificate",
    "limit": "Context window",
    "max_output": "Longest answer",
    "theme": "Theme",
    "zoom_percent": "Zoom",
    "default_model": "Model of new chats",
    "enter_sends": "Enter sends",
    "proxy": "Proxy",
    "proxy_url": "Address of the proxy",
    "ca_file": "Certificate file",
    "detailed_log": "Detailed log",
    "input_price": "Price of input",
    "output_price": "Price of output",
    "cache_read_price": "Price of reading the cache",
    "cache_write_price": "Price of writing the cache",
    "effect": "What a rule of a profile grants",
    "pattern": "The pattern of a rule of a profile",
    "rules": "The rules of a profile",
    "instructions": "The instructions of a profile",
    "endpoints": "Providers",
    "models": "Models",
}


def _of_types(place: Place, kind: str, limits: Mapping[str, object], value: object) -> Problem:
    """Return what pydantic found, in words."""
    names = [step for step in place if isinstance(step, str)]
    field = next((step for step in reversed(names) if step in _FIELDS), names[-1] if names else "")
    owner = _owner_of(place, value)
    subject = _FIELDS.get(field, f"“{field}”") + (f" of {owner}" if owner else "")
    if len(place) == 2 and place[0] in ("endpoints", "models"):
        subject = f"What is said about {owner}"
    is_needed = kind == "missing" or (place[:1] == ("endpoints",) and field in _NEEDED.get(len(place), ()))
    return Problem(place[:-1] if is_needed else place, f"{subject} {_reason(kind, limits)}.")


_NEEDED: Final[dict[int, tuple[str, ...]]] = {3: ("id", "name", "base_url"), 5: ("id",)}
"""Fields an endpoint, and a model of its list, can't do without; by the length of their place."""


def _owner_of(place: Place, value: object) -> str:
    """Return which provider or model `place` belongs to."""
    if len(place) < 2 or place[0] not in ("endpoints", "models"):
        return ""
    if place[0] == "models":
        return str(place[1])
    for step in place[:2]:
        value = _step(value, step) if _leads_on(value, step) else None
    named = value.get("name") or value.get("id") if isinstance(value, dict) else None
    return named if isinstance(named, str) else f"provider {int(place[1]) + 1}"


def _reason(kind: str, limits: Mapping[str, object]) -> str:
    reasons = {
        "missing": "is missing",
        "greater_than_equal": f"must be {_figure(limits.get('ge'))} or more",
        "less_than_equal": f"must be {_figure(limits.get('le'))} or less",
        "greater_than": f"must be more than {_figure(limits.get('gt'))}",
        "string_too_short": "may not be empty",
        "string_too_long": f"may have {limits.get('max_length')} characters at most",
        "string_pattern_mismatch": "may have small letters, digits and hyphens only, 40 at most",
        "literal_error": f"must be one of these: {limits.get('expected')}",
    }
    return reasons.get(kind) or _reason_of_shape(kind)


def _figure(limit: object) -> str:
    return f"{limit:,.12g}" if isinstance(limit, int | float) else str(limit)


def _reason_of_shape(kind: str) -> str:
    shapes = {"int": "a whole number", "float": "a number", "bool": "true or false", "string": "text"}
    shapes |= {"finite": "a number", "datetime": "a time", "timezone": "a time", "dict": "a group", "model": "a group"}
    shapes |= {"tuple": "a list"}
    return f"must be {shapes.get(kind.partition('_')[0], 'something else')}"
