"""Texts for a terminal: what it would obey instead of showing is taken out, or written so that it is only shown.

Names, events, engines and servers may say anything. ESC and the C1 controls begin sequences that set titles, fill the
clipboard or move the cursor; controls of writing direction make a name look like another one.
"""

from __future__ import annotations

import json
import re
from typing import Any

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LINES = "\u2028\u2029"
_OBEYED = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI}{_LINES}]")
_IN_JSON = re.compile(f"[\x7f-\x9f{_BIDI}{_LINES}\ud800-\udfff]")  # json itself escapes what comes before the space


def visible(text: str) -> str:
    r"""Return the text without controls; lines and tabs stay.

    >>> visible("Kas\x1b]0;owned\x07parov\u202e\n")
    'Kas]0;ownedparov\n'
    """
    return _OBEYED.sub("", text)


def json_text(value: Any, *, indent: int | None = None) -> str:
    r"""Return JSON of exactly this value in which every control is written as an escape.

    >>> print(json_text({"name": "Kas\x9bparov"}))
    {"name": "Kas\u009bparov"}
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
