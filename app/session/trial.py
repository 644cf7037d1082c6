"""One test of an endpoint as a person has entered it: not all of it need be right, and it need not be saved."""

from app.domain.connections import StepResult, TestReport, TestStep
from app.domain.errors import ErrorKind, KnownError, ProviderError
from app.providers.endpoints import EndpointProviders
from app.providers.probe import Probe, reach
from app.settings.addresses import AddressProblem, read_address
from app.settings.key_text import clean_key
from app.settings.schema import Endpoint, Settings


async def test_endpoint(
    endpoint: Endpoint, settings: Settings, providers: EndpointProviders, *, key: str, model: str
) -> TestReport:
    """Take every step, with `key` or else the one that is kept, and with `model` or else the one of new chats."""
    wrong = _wrong_address(endpoint)
    if wrong is not None:
        return wrong

    async def get_key() -> str | None:
        return _checked(key) if key.strip() else await providers.key(endpoint)

    provider = providers.make(endpoint, settings.network, get_key)
    try:
        return await Probe(
            endpoint,
            settings.network,
            provider,
            get_key=get_key,
            catalogue=providers.catalogue,
            model=model or _model_of_new_chats(endpoint, settings),
        ).run()
    finally:
        await provider.close()


async def reach_endpoint(endpoint: Endpoint, settings: Settings) -> TestReport:
    """Take the steps that need no key."""
    return _wrong_address(endpoint) or await reach(endpoint, settings.network)


def _wrong_address(endpoint: Endpoint) -> TestReport | None:
    """Return the end of a test whose address can't be asked, None if it can."""
    address = read_address(endpoint.base_url, endpoint.dialect)
    if not isinstance(address, AddressProblem):
        return None
    return TestReport((StepResult(TestStep.NAME, passed=False, detail=address.text),))


def _checked(key: str) -> str:
    try:
        return clean_key(key)
    except KnownError as error:
        raise ProviderError(ErrorKind.AUTHENTICATION, str(error)) from error


def _model_of_new_chats(endpoint: Endpoint, settings: Settings) -> str:
    """Return the model of new chats if it is one of `endpoint`, else an empty text."""
    provider, _, model = settings.general.default_model.partition("/")
    return model if provider == endpoint.id else ""
