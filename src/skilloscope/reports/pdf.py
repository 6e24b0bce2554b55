"""A page as PDF, by WeasyPrint: the print style of the page, fonts embedded, nothing loaded from anywhere."""

from __future__ import annotations

import logging
from typing import Any

from skilloscope.core.errors import InputError, MissingExtraError


def check_pdf() -> None:
    """Raise where no PDF can be made: better before the work than after it."""
    try:
        import weasyprint  # noqa: F401
    except (ImportError, OSError) as error:  # OSError: the library is there, Pango is not
        raise MissingExtraError(
            f"PDF needs WeasyPrint and Pango ({error})",
            hint="pip install 'skilloscope[pdf]'; on Debian Pango is libpango-1.0-0 with libpangoft2-1.0-0",
        ) from error


def pdf_bytes(page: str) -> bytes:
    """Return a self-contained page as PDF."""
    check_pdf()
    from weasyprint import HTML

    logging.getLogger("weasyprint").setLevel(
        logging.ERROR
    )  # it remarks on every style of SVG that it draws all the same
    document: bytes = HTML(string=page, url_fetcher=_nothing).write_pdf()
    return document


def _nothing(url: str, *_: Any, **__: Any) -> Any:
    """Refuse every address: a page holds all it needs."""
    if url.startswith("data:"):
        from weasyprint import default_url_fetcher

        return default_url_fetcher(url)
    raise InputError(f"a page may not load {url!r}")
