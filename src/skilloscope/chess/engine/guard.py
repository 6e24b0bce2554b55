"""A guard for one engine: the engine never outlives the process that asked for it, whatever kills that one.

Run as a program, `python -I -S guard.py LIFELINE PARENT ENGINE…`: it starts the engine on its own standard input and
output, as a child in its own process group. LIFELINE is a pipe of which only the parent holds the other end. When that
end closes, the guard kills the group, itself with it. When the engine ends, the guard ends with the same status.

With the engine ends what it has started, also in a group or a session of its own: the guard adopts the orphans of all
its descendants (Linux), and kills all that is of its session or descends from it, as the system lists it (/proc).
"""

import _thread
import ctypes
import os
import select
import sys

FAILED_TO_START = "guard: the engine cannot be started: "
"""What the guard says in the engine's place where there is no engine to speak."""

_LOOK_SECONDS = 0.5
_ROUNDS = 5
_PR_SET_CHILD_SUBREAPER = 36
_SIGKILL, _SIGPIPE, _SIGXFSZ = 9, 13, 25  # `import signal` would cost a third of the guard's start


def run_guarded(lifeline: int, parent: int, engine: list[str]) -> int:
    """Run the engine under guard and return its exit status, as the shell would write it."""
    os.set_inheritable(lifeline, False)
    if sys.platform == "linux":  # whose own parent ends gets the guard for one, so that none leaves the tree under it
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    _thread.start_new_thread(watch, (lifeline, parent))
    try:
        # Python ignores these two signals, and a program would inherit that: a broken pipe could no longer end it.
        child = os.posix_spawn(engine[0], engine, os.environ, setsigdef=[_SIGPIPE, _SIGXFSZ])
    except OSError as error:
        os.write(1, f"{FAILED_TO_START}{error.strerror or error}\n".encode())
        return 127
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    end_session(os.getpid())
    return code if code >= 0 else 128 - code


def watch(lifeline: int, parent: int) -> None:
    """Kill the whole group once the parent is gone; a copy of it that it forked may still hold the pipe open."""
    while os.getppid() == parent and not select.select([lifeline], [], [], _LOOK_SECONDS)[0]:
        pass
    end_session(os.getpid())
    os.killpg(0, _SIGKILL)


def end_session(leader: int) -> None:
    """Kill all processes of a session and all descendants of its leader, but not the leader and not ourselves."""
    for _ in range(_ROUNDS):  # what is killed last may have started another just before
        found = [pid for pid in session_members(leader) if pid not in (leader, os.getpid())]
        for pid in found:
            try:
                os.kill(pid, _SIGKILL)
            except OSError:  # just ended, or not ours to kill
                continue
        if not found:
            return


def session_members(leader: int) -> list[int]:
    """Return the living processes of a session, and the descendants of its leader, as /proc lists them."""
    known: dict[int, tuple[int, int]] = {}
    try:
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/stat", "rb") as file:
                        # The name of the program stands in brackets and may hold anything; the rest follows it.
                        state, parent, _, session = file.read().rpartition(b")")[2].split()[:4]
                except (OSError, ValueError):  # just ended
                    continue
                if state not in (b"Z", b"X"):
                    known[int(name)] = int(parent), int(session)
    except OSError:
        return []  # no such list on this system
    members = {pid for pid, (_, session) in known.items() if session == leader} | {leader}
    while more := {pid for pid, (parent, _) in known.items() if parent in members} - members:
        members |= more
    return sorted(members & known.keys())


if __name__ == "__main__":
    os._exit(run_guarded(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
