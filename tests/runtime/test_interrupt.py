"""Ctrl-C in a call that would never end, with and without others who listen to signals."""

from tests.runtime.programs import prints

# One process each: handlers and the wakeup descriptor belong to the process.
START = """
import os, signal, sys, threading, time
from tests.runtime.programs import SPINNING, PRODUCT, function, product, spinning
f = function(spinning(), SPINNING)

def press(*delays):
    def work():
        for delay in delays:
            time.sleep(delay)
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
    pressed.clear()
    threading.Thread(target=work, daemon=True).start()
pressed = []

def spin(*delays):
    press(*delays)
    try:
        f(-1.0)
    except KeyboardInterrupt:
        return "interrupted" if time.monotonic() - pressed[-1] < 1 else "late"
"""


def test_a_loop_is_interrupted_and_the_function_is_usable():
    prints(
        START + "print(spin(0.1), f(2.0), spin(0.1), spin(0.1), f(3.0))", "interrupted 2.0 interrupted interrupted 3.0"
    )


def test_the_first_signal_of_all_during_the_first_call():
    prints(START + "print(spin(0.02))", "interrupted")


def test_other_threads_go_on():
    prints(
        START
        + """
values = []
compiled_in_thread = threading.Thread(target=lambda: values.extend(f(float(k)) for k in range(20000)))
compiled_in_thread.start()
print(spin(0.05))
compiled_in_thread.join()
print(values == list(map(float, range(20000))))
""",
        "interrupted\nTrue",
    )


def test_a_call_in_another_thread_is_not_what_ctrl_c_ends():
    prints(
        START
        + """
thread = threading.Thread(target=f, args=(-1.0,), daemon=True)
thread.start()
time.sleep(0.05)
press(0.05)
try:
    time.sleep(5)
except KeyboardInterrupt:
    print("main", thread.is_alive(), f(1.0))
sys.stdout.flush()
os._exit(0)
""",
        "main True 1.0",
    )


def test_a_handler_of_the_user_runs_first_and_a_second_ctrl_c_interrupts():
    prints(
        START
        + """
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
f(1.0)
started = time.monotonic()
print(spin(0.1, 0.2), time.monotonic() - started > 0.25, bool(seen))
""",
        "interrupted True True",
    )


def test_a_handler_that_raises_something_else():
    prints(
        START
        + """
class Stop(Exception): pass
def handler(*_): raise Stop
signal.signal(signal.SIGINT, handler)
press(0.1, 0.1)
try:
    f(-1.0)
except Stop:
    print("Stop", f(1.0))
""",
        "Stop 1.0",
    )


def test_who_listened_before_still_hears_everything_and_gets_the_place_back():
    prints(
        """
import signal, socket, atexit, os
ear, mouth = socket.socketpair()
mouth.setblocking(False)
signal.set_wakeup_fd(mouth.fileno())
atexit.register(lambda: print(signal.set_wakeup_fd(-1) == mouth.fileno()))
"""
        + START
        + """
print(spin(0.05))
signal.signal(signal.SIGUSR1, lambda *_: None)
os.kill(os.getpid(), signal.SIGUSR1)
ear.settimeout(5)
heard = b""
while len(heard) < 2:
    heard += ear.recv(10)
print(list(heard) == [signal.SIGINT, signal.SIGUSR1])
""",
        "interrupted\nTrue\nTrue",
    )


def test_who_comes_later_has_the_place():
    prints(
        START
        + """
import asyncio
f(1.0)

async def main():
    loop, heard = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, heard.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(heard.wait(), 5)
    heard.clear()
    print("heard", function(product(), PRODUCT)(2.0, 3.0))  # a new instance: we listen too, and pass on
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(heard.wait(), 5)
    loop.remove_signal_handler(signal.SIGUSR1)
    print("heard again")

asyncio.run(main())
function(product(), PRODUCT)(2.0, 3.0)
print(spin(0.05))
""",
        "heard 6.0\nheard again\ninterrupted",
    )


def test_a_descriptor_that_was_closed_gets_nothing():
    prints(
        """
import signal, socket, os
ear, mouth = socket.socketpair()
mouth.setblocking(False)
signal.set_wakeup_fd(mouth.fileno())
"""
        + START
        + """
f(1.0)
number = mouth.fileno()
mouth.close(); ear.close()
file = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
os.dup2(file, number)
print(spin(0.05), os.fstat(number).st_size)
""",
        "interrupted 0",
    )


def test_the_child_of_a_fork_is_interrupted_by_itself():
    prints(
        START
        + """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
f(1.0)
pid = os.fork()
if not pid:
    print("child", spin(0.05), f(2.0))
    sys.stdout.flush()
    os._exit(0)
os.waitpid(pid, 0)
print("parent", spin(0.05))
""",
        "child interrupted 2.0\nparent interrupted",
    )


def test_calls_in_a_thread_only_install_nothing():
    prints(
        START
        + """
thread = threading.Thread(target=f, args=(1.0,))
thread.start()
thread.join()
print(signal.set_wakeup_fd(-1), [t.name for t in threading.enumerate()])
""",
        "-1 ['MainThread']",
    )
