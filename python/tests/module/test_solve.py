import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from goats import DOMAIN, POINTS, PROBLEM, READING, TEXT, Reader

import planforge as pf


def test_an_object_is_a_model():
    reader = Reader()
    answer = pf.solve(TEXT, model=reader)
    assert (answer.end, len(answer.plan)) == ("planned", 7) and reader.requests >= 2
    assert str(answer).startswith("planned: 7 steps.")
    assert answer.trust.models == ("goats-by-hand",) and answer.trust.readings == 3
    assert pf.read(answer.domain, answer.problem).validate(answer.plan)
    assert answer.words.strip() and (answer.folder / "trust.json").is_file()


def test_a_function_is_a_model_and_gets_the_arguments_that_it_has():
    seen = []

    def model(messages, temperature, seed, max_tokens):
        seen.append((messages, temperature, seed, max_tokens))
        return Reader().complete(messages, n=1, temperature=0, seed=0)[0]

    assert pf.solve(TEXT, model=model, readings=2).end == "planned"
    messages, temperature, seed, max_tokens = seen[0]
    assert set(messages[0]) >= {"role", "content"} and temperature == 0.0 and isinstance(seed, int)
    assert max_tokens == 8192
    assert pf.solve(TEXT, model=lambda messages: Reader().complete(messages, n=1, temperature=0, seed=0)[0]).plan


def test_a_question_is_asked_and_the_answer_decides():
    asked = []

    def ask(question):
        asked.append(question)
        return 1 if "yes" in question.choices[0] else "2"

    answer = pf.solve(TEXT, model=Reader(POINTS), ask=ask)
    assert len(answer.plan) == 5 and len(asked) == 1
    assert asked[0].text in str(asked[0]) and "  1  " in asked[0] and asked[0].choices[0]
    assert [point.status for point in answer.points] == ["answered"]


def test_without_a_person_questions_wait_and_are_answered_later(tmp_path):
    answer = pf.solve(TEXT, model=Reader(POINTS), folder="goats")
    assert answer.end == "needs-answers" and answer.plan == ()
    (point,) = answer.questions
    choice = next(number for number, text in enumerate(point.choices, 1) if text.startswith("yes"))
    later = pf.solve(continued=answer, answers={point.id: choice}, model=None)
    assert (later.end, len(later.plan), later.questions) == ("planned", 5, ())
    saved = later.save(tmp_path / "kept")
    assert (saved / "answer" / "plan").read_text().splitlines() == list(later.plan)
    with pytest.raises(pf.UsageError):
        later.save(saved)


def test_the_same_call_returns_the_same_answer_and_asks_no_model():
    reader = Reader()
    first = pf.solve(TEXT, model=reader, folder="goats")
    requests = reader.requests
    assert pf.solve(TEXT, model=reader, folder="goats").plan == first.plan and reader.requests == requests
    with pytest.raises(pf.UsageError):
        pf.solve(TEXT, model="openai:another", folder="goats")
    with pytest.raises(pf.UsageError, match="exists already"):
        pf.solve(TEXT + " Hurry.", model=reader, folder="goats")


def test_the_same_call_with_other_line_ends_a_file_or_recorded_replies_returns_the_same_answer(tmp_path):
    text = TEXT.replace(". ", ".\r\n")
    file = tmp_path / "goats.txt"
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    reader = Reader()
    first = pf.solve(text, model=reader, folder="goats", record="replies.jsonl")
    requests = reader.requests
    for same in ({"record": "replies.jsonl"}, {"replay": "replies.jsonl"}, {}):
        for given in (text, file):
            assert pf.solve(given, model=reader, folder="goats", **same).plan == first.plan
    assert reader.requests == requests
    with pytest.raises(pf.Error):
        pf.solve(tmp_path / "nowhere.txt", model=reader, folder="goats")


class Broken:
    name = "broken"

    def complete(self, messages):
        raise OSError("down")


def test_readings_belong_to_the_model_that_made_them():
    with pytest.raises(pf.ModelError):
        pf.solve(TEXT, model=Broken(), folder="goats")
    assert pf.solve(TEXT, model=Reader(), folder="goats").trust.models == ("goats-by-hand",)
    with pytest.raises(pf.UsageError):
        pf.solve(TEXT, model=Broken(), folder="goats")


def test_another_model_does_not_complete_the_readings_of_an_interrupted_one():
    class Interrupted(Reader):
        def complete(self, messages, *, n, temperature, seed):
            if self.requests == 2:
                raise KeyboardInterrupt
            return super().complete(messages, n=n, temperature=temperature, seed=seed)

    with pytest.raises(KeyboardInterrupt):
        pf.solve(TEXT, model=Interrupted(), folder="goats")
    other = Reader()
    other.name = "another"
    with pytest.raises(pf.UsageError, match='"goats-by-hand"'):
        pf.solve(TEXT, model=other, folder="goats")
    assert other.requests == 0
    assert pf.solve(TEXT, model=Reader(), folder="goats").trust.models == ("goats-by-hand",)


def test_an_error_names_only_a_folder_that_stays():
    with pytest.raises(pf.ModelError) as raised:
        pf.solve(TEXT, model=Broken())
    assert raised.value.hints == ()
    with pytest.raises(pf.ModelError) as raised:
        pf.solve(TEXT, model=Broken(), folder="goats")
    assert raised.value.hints == ("the text and the runs are in goats",)


def test_open_points_can_be_assumed():
    answer = pf.solve(TEXT, model=Reader(POINTS), assume=True)
    assert {point.status for point in answer.points} == {"assumed"} and len(answer.plan) == 7


def test_a_domain_that_exists_and_a_file_of_words(tmp_path):
    file = tmp_path / "goats.txt"
    file.write_text(TEXT)

    def problem_alone(messages, n):
        reply = Reader().complete(messages, n=1, temperature=None, seed=None)[0]
        return [reply.replace(f"```pddl\n{DOMAIN}```\n", "")] * n

    assert pf.solve(file, domain=DOMAIN, model=problem_alone).end == "planned"


def test_the_folder_of_an_answer_lives_as_long_as_the_answer():
    answer = pf.solve(TEXT, model=Reader())
    folder = answer.folder
    assert folder.is_dir()
    del answer
    assert not folder.exists()


@pytest.mark.parametrize(
    ("returned", "code", "words"),
    [
        (None, "python.reply", "an object of the type NoneType"),
        (b"(define)", "python.reply", "an object of the type bytes"),
        ([READING] * 9, "python.reply", "9 replies"),
        ([], "python.reply", "0 replies"),
        ([None], "python.reply", "a list with an object of the type NoneType"),
        ({"content": READING}, "python.reply", "an object of the type dict"),
        ("\udc80", "python.reply", "half of a surrogate pair"),
    ],
)
def test_a_model_that_returns_something_else_is_an_error_with_code_and_help(returned, code, words):
    with pytest.raises(pf.ModelError) as raised:
        pf.solve(TEXT, model=lambda messages: returned, readings=1)
    assert (raised.value.code, raised.value.status) == (code, 34)
    assert words in str(raised.value) and raised.value.help


def test_a_model_that_is_a_coroutine_is_an_error():
    async def model(messages):
        return READING

    with pytest.raises(pf.ModelError, match="a coroutine"):
        pf.solve(TEXT, model=model, readings=1)


def test_a_model_that_raises_is_the_cause_of_the_error():
    def model(messages):
        raise KeyError("no such deployment \udc80")

    with pytest.raises(pf.ModelError, match="raised KeyError") as raised:
        pf.solve(TEXT, model=model)
    assert raised.value.code == "python.model" and isinstance(raised.value.__cause__, KeyError)


@pytest.mark.parametrize("wrong", [7, object(), [Reader(), Reader()]])
def test_what_is_no_model_is_a_usage_error(wrong):
    with pytest.raises(pf.UsageError):
        pf.solve(TEXT, model=wrong)


def test_answers_of_ask_that_cannot_be_used():
    with pytest.raises(pf.UsageError, match="`ask` returned"):
        pf.solve(TEXT, model=Reader(POINTS), ask=lambda question: [1])

    def end(question):
        raise EOFError

    assert pf.solve(TEXT, model=Reader(POINTS), ask=end).end in ("needs-answers", "planned")


def test_requests_that_contradict_each_other_send_nothing():
    reader = Reader()
    for wrong in (
        {"text": None},
        {"text": ""},
        {"text": DOMAIN},
        {"text": TEXT, "continued": "somewhere"},
        {"continued": "somewhere", "domain": DOMAIN},
        {"continued": "somewhere", "rules": TEXT},
        {"text": TEXT, "readings": 0},
        {"text": None, "continued": "nowhere"},
    ):
        with pytest.raises(pf.Error):
            pf.solve(model=reader, **wrong)
    assert reader.requests == 0


def test_two_threads_solve_at_the_same_time():
    answers, reader = [], Reader()
    threads = [
        threading.Thread(target=lambda: answers.append(pf.solve(TEXT, model=reader).end)) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["planned", "planned"]


def test_an_interrupt_ends_a_model_that_blocks_and_the_same_call_resumes():
    script = textwrap.dedent(
        """
        import signal, sys, time
        sys.path.insert(0, sys.argv[1])
        import planforge as pf
        from goats import TEXT, Reader

        class Blocking(Reader):
            def complete(self, messages, *, n, temperature, seed):
                if self.requests == 2:
                    print("blocked", flush=True)
                    time.sleep(600)
                return super().complete(messages, n=n, temperature=temperature, seed=seed)

        # A background job of a shell starts with the signal ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            pf.solve(TEXT, model=Blocking(), folder="goats")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    here = str(__file__).rsplit("/", 1)[0]
    process = subprocess.Popen([sys.executable, "-c", script, here], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "blocked\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert (rest, process.returncode) == ("interrupted\n", 0)
    reader = Reader()
    answer = pf.solve(TEXT, model=reader, folder="goats")
    assert answer.end == "planned"
    fresh = Reader()
    pf.solve(TEXT, model=fresh)
    assert reader.requests == fresh.requests - 2, "the two replies before the interrupt are asked for again"


def test_an_interrupt_ends_a_search():
    script = textwrap.dedent(
        """
        import signal, threading, _thread, time
        import planforge as pf
        objects = " ".join(f"o{i}" for i in range(60))
        domain = '''(define (domain d) (:requirements :strips)
          (:predicates (p ?x) (q ?x ?y))
          (:action a :parameters (?x ?y) :precondition (p ?x) :effect (and (q ?x ?y) (p ?y) (not (p ?x))))
          (:action b :parameters (?x ?y) :precondition (and (p ?x) (q ?y ?x)) :effect (not (q ?y ?x))))'''
        goal = " ".join(f"(q o{i} o{j})" for i in range(60) for j in range(60) if i != j)
        problem = f"(define (problem p) (:domain d) (:objects {objects}) (:init (p o0)) (:goal (and {goal})))"
        task = pf.read(domain, problem)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.5, _thread.interrupt_main).start()
        try:
            task.plan(optimal=True)
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert ended.stdout == "interrupted\n", ended.stderr


def test_other_threads_run_while_rust_works():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    task = pf.read(DOMAIN, PROBLEM)
    task.search(max_nodes=200_000)
    before = len(ticks)
    done.set()
    thread.join()
    assert before > 3


def test_a_fork_during_a_call_is_an_error_in_the_child():
    script = textwrap.dedent(
        """
        import os, sys
        sys.path.insert(0, sys.argv[1])
        import planforge as pf
        from goats import TEXT, Reader

        class Forking(Reader):
            def complete(self, messages, *, n, temperature, seed):
                if self.requests == 0:
                    self.child = os.fork()
                return super().complete(messages, n=n, temperature=temperature, seed=seed)

        reader = Forking()
        try:
            end = pf.solve(TEXT, model=reader).end
        except pf.SystemFailure as error:
            os._exit(7 if error.code == "python.fork" else 8)
        _, status = os.waitpid(reader.child, 0)
        print(end, os.waitstatus_to_exitcode(status))
        """
    )
    here = str(__file__).rsplit("/", 1)[0]
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, here], capture_output=True, text=True, timeout=120
    )
    assert ended.stdout == "planned 7\n", ended.stderr


def test_recorded_replies_of_the_demo_are_replayed(root):
    asked = []

    def ask(question):
        asked.append(question.text)
        known = [("two cakes", "no:"), ("icing bag empty", "yes:")]
        for words, beginning in known:
            for number, choice in enumerate(question.choices, 1):
                if words in question.text and choice.startswith(beginning):
                    return number
        return "unknown"

    text = (root / "examples/demo/bakery.txt").read_text()
    cassette = root / "examples/demo/bakery.jsonl"
    answer = pf.solve(text, model="batch:frontier", replay=cassette, folder="bakery", ask=ask)
    assert answer.end == "planned" and asked
    shown = subprocess.run(
        [sys.executable, "-m", "planforge", "demo", "--json"], capture_output=True, text=True, check=True
    ).stdout
    assert f'"line": "{answer.line}"' in shown
    assert re.findall(r'"question": "(.*)"', shown)[: len(asked)] == asked



def test_lambdas_are_told_apart_by_their_code():
    with pytest.raises(pf.ModelError):
        pf.solve(TEXT, model=lambda messages: 1 / 0, folder="goats")
    reader = Reader()
    same = [
        pf.solve(TEXT, model=lambda messages: reader.complete(messages, n=1, temperature=0, seed=0)[0], folder="goats")
        for _ in range(2)
    ]
    assert same[0].plan == same[1].plan and "<lambda> " in same[0].trust.models[0]
    requests = reader.requests
    with pytest.raises(pf.UsageError):
        pf.solve(TEXT, model=lambda messages: "another", folder="goats")
    assert reader.requests == requests
