"""Owners that are killed, stopped and go on, over three processes: nothing is lost, doubled or changed."""

import json
import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from appletaste.streams import Stream

from ..streams.stores import fresh_database
from .serving import ask, item
from .test_machines import Machine
from .test_sharing import made

#: Faults: a few in the suite, two hundred in ``make test-faults``; acts that each stream may make on a day.
FAULTS = 5 * int(os.environ.get("APPLETASTE_KILLS", "0")) or 3
STREAMS, CAP, DAYS = 60, 2, 3


def test_owners_are_killed_stopped_and_go_on():
    address = fresh_database()
    names, key = made(address, STREAMS, capacity=CAP)
    chance, told, labels, stop = random.Random(4), {}, {}, threading.Event()
    machines = [Machine(address).wait() for _ in range(3)]

    def client(number):
        """Decide and label for ever; whatever is not answered is sent again with the same id, by way of anybody."""
        mine = random.Random(number)
        for k in range(10**6):
            if stop.is_set():
                return
            name, id_ = mine.choice(names), f"{number}-{k}"
            path = f"/v1/streams/{name}/decisions"
            body = {"id": id_, "item": item(k), "time": f"2024-05-{1 + mine.randrange(DAYS):02d}"}
            answer = sent(mine, "POST", path, body)
            told[name, id_] = answer.body
            if json.loads(answer.body)["act"]:
                value = mine.randrange(2)
                sent(mine, "PUT", f"{path}/{id_}/label", {"value": value})
                labels[name, id_] = value

    def sent(mine, method, path, body):
        while True:
            try:
                answer = ask(mine.choice(machines).port, method, path, body, key=key)
            except OSError:
                answer = None
            if answer is not None and answer.status < 300:
                return answer
            assert answer is None or answer.status == 503, answer.body
            time.sleep(0.05)

    try:
        with ThreadPoolExecutor(6) as pool:
            clients = [pool.submit(client, number) for number in range(6)]
            for fault in range(FAULTS):
                time.sleep(chance.uniform(0.5, 1.5))
                at = chance.randrange(3)
                one = machines[at]
                if (fault + 1) % 3 == 2:  # long enough to be replaced, every other time
                    os.kill(one.process.pid, signal.SIGSTOP)
                    time.sleep(7 if fault % 2 else 1)
                    os.kill(one.process.pid, signal.SIGCONT)
                else:
                    if fault % 3:
                        one.process.terminate()
                    one.end()
                    machines[at] = Machine(address).wait()
                assert not any(one.done() for one in clients)
            seen = len(told)
            while len(told) < seen + 30:
                assert not any(one.done() for one in clients)
                time.sleep(0.05)
            stop.set()
            for one in clients:
                one.result()
        for machine in machines:
            if (
                machine.process.poll() is not None
            ):  # one that was stopped in the middle of a commit may end, and says so
                said = machine.process.stderr.read()
                assert machine.process.returncode == 3, said
                # by the request whose commit it was, or by the first that came after
                assert "whether it is stored is not known" in said or "has stopped after a failed write" in said, said
    finally:
        stop.set()
        for machine in machines:
            machine.end()
    check(address, names, told, labels)


def check(address, names, told, labels):
    """Compare every answer with the record, count, and verify."""
    time.sleep(3)  # until nobody owns the streams
    for name in names:
        with Stream.open(address, name) as stream:
            stream.verify()
            entries = stream.log()
            answered = {id_ for one, id_ in told if one == name}
            assert answered <= set(entries.id)
            assert len(set(entries.id)) == len(entries.id)
            for id_ in answered:
                assert json.loads(told[name, id_]).items() <= json.loads(stream.find(id_).answer.json()).items()
            for (one, id_), value in labels.items():
                assert one != name or stream.find(id_).entry.label == value
            days = [str(when)[:10] for when, act in zip(entries.time, entries.act, strict=True) if act]
            assert all(days.count(day) <= CAP for day in set(days))
