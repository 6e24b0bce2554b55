"""What holds a file, a process or a connection: a `with` block lets go of it, whatever has happened inside."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Something that is closed at the end of a `with` block.

    >>> class Door(Closing):
    ...     def close(self):
    ...         print("shut")
    >>> with Door():
    ...     print("open")
    open
    shut
    """

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; closing twice does no harm."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
