"""Changes of the settings, as pure functions of those that hold."""

from collections.abc import Collection

from app.settings.schema import Edit, Endpoint, ModelSettings, Settings, with_endpoint


def change_part(part: str, **values: object) -> Edit:
    """Return an edit that sets fields of `general`, `appearance`, `network`, `privacy` or `agents`."""

    def edit(settings: Settings) -> Settings:
        changed = getattr(settings, part).model_copy(update=values)
        return settings.model_copy(update={part: changed})

    return edit


def add_endpoint(endpoint: Endpoint) -> Edit:
    """Return an edit that adds an endpoint, unless one of that id is there."""

    def edit(settings: Settings) -> Settings:
        if settings.endpoint(endpoint.id) is not None:
            return settings
        return settings.model_copy(update={"endpoints": (*settings.endpoints, endpoint)})

    return edit


def change_endpoint(endpoint_id: str, **values: object) -> Edit:
    """Return an edit that sets fields of an endpoint; one that is gone stays gone."""
    return lambda settings: with_endpoint(settings, endpoint_id, **values)


def remove_endpoint(endpoint_id: str) -> Edit:
    """Return an edit that removes an endpoint, and what was said of its models."""

    def edit(settings: Settings) -> Settings:
        general = settings.general
        if general.default_model.startswith(f"{endpoint_id}/"):
            general = general.model_copy(update={"default_model": ""})
        return settings.model_copy(
            update={
                "general": general,
                "endpoints": tuple(each for each in settings.endpoints if each.id != endpoint_id),
                "models": {
                    ref: model for ref, model in settings.models.items() if ref.partition("/")[0] != endpoint_id
                },
            }
        )

    return edit


def change_model(ref: str, **values: object) -> Edit:
    """Return an edit that sets what a person says of the model `provider/model`."""

    def edit(settings: Settings) -> Settings:
        said = settings.models.get(ref, ModelSettings()).model_copy(update=values)
        return _with_model(settings, ref, said)

    return edit


def forget_figures(ref: str) -> Edit:
    """Return an edit that leaves all figures of a model to the catalogue; all else that is said of it stays."""

    def edit(settings: Settings) -> Settings:
        said = settings.models.get(ref, ModelSettings())
        figures = dict.fromkeys(ModelSettings.model_fields.keys() - {"favourite", "added"})
        return _with_model(settings, ref, said.model_copy(update=figures))

    return edit


def remove_model(ref: str) -> Edit:
    """Return an edit that removes a model that was entered by hand."""
    return lambda settings: _with_model(settings, ref, ModelSettings())


def _with_model(settings: Settings, ref: str, said: ModelSettings) -> Settings:
    models = dict(settings.models)
    if said == ModelSettings():
        models.pop(ref, None)
    else:
        models[ref] = said
    return settings.model_copy(update={"models": models})


def free_id(name: str, settings: Settings) -> str:
    """Return an id for a new endpoint called `name` that no other has."""
    taken = {endpoint.id for endpoint in settings.endpoints}
    wanted = free_among(name, taken, otherwise="provider")
    return free_among("practice-server", taken, otherwise="") if wanted == "practice" else wanted


def free_among(name: str, taken: Collection[str], *, otherwise: str) -> str:
    """Return an id made from `name` that is not taken, from `otherwise` where no letter of it can be kept."""
    letters = "".join(char if char.isascii() and char.isalnum() else "-" for char in name.lower())
    stem = "-".join(part for part in letters.split("-") if part)[:32].strip("-") or otherwise
    number = 1
    while (wanted := stem if number == 1 else f"{stem}-{number}") in taken:
        number += 1
    return wanted
