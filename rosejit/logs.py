"""What `ROSE_LOG` asks to hear of: lines on the logger `rosejit`, which Python prints unless it is told otherwise."""

import os
from collections.abc import Callable

TOPICS = ("compile", "cache", "ir")


def wants(topic: str) -> bool:
    """Whether `ROSE_LOG` names the topic: one of them, or several, as in `compile|cache`."""
    asked = os.environ.get("ROSE_LOG")
    return bool(asked) and topic in asked.replace(",", "|").split("|")


def note(topic: str, message: Callable[[], str]) -> None:
    """Log `message`, which is made only where the topic is asked for."""
    if wants(topic):
        import logging  # 5 ms, and few ask

        logging.getLogger("rosejit").warning("%s", message())
