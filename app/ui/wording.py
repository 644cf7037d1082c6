"""Sentences for people about things that went wrong."""

from PySide6.QtCore import QCoreApplication


def error_sentence(kind: str) -> str:
    """Return what an `ErrorKind` means, in the person's language; any other text gets a general sentence."""
    tr = QCoreApplication.translate
    sentences = {
        "authentication": tr("Errors", "The model's provider did not accept the key."),
        "quota": tr("Errors", "The account has no credit left with the model's provider."),
        "rate_limit": tr("Errors", "The provider is asked too often at the moment."),
        "overloaded": tr("Errors", "The provider has too much to do at the moment."),
        "server": tr("Errors", "The provider had a fault of its own."),
        "network": tr("Errors", "The connection failed."),
        "context_exceeded": tr("Errors", "This chat has outgrown what the model can read."),
        "model_not_found": tr("Errors", "The provider doesn't know this model."),
        "refusal": tr("Errors", "The model declined to answer."),
        "truncated": tr("Errors", "The reply ended before it was complete."),
        "invalid_request": tr("Errors", "The provider did not take the request."),
        "cancelled": tr("Errors", "The request was cancelled."),
    }
    return sentences.get(kind, tr("Errors", "The reply failed."))


def told_error(kind: str, detail: str, *, is_quote: bool) -> str:
    """Return what went wrong, once: Muntin's sentence about it, or the provider's own words beside that of `kind`."""
    detail = detail.strip()
    if detail and not is_quote:
        return detail
    sentence = error_sentence(kind)
    if not detail:
        return sentence
    quoted = QCoreApplication.translate("Errors", "{sentence} The provider says: “{words}”.")
    return quoted.format(sentence=sentence, words=detail.removesuffix("."))
