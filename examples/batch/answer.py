#!/usr/bin/env python3
"""Answers a file of batch requests, with any OpenAI-compatible or Anthropic-compatible server, or by hand. Python's standard library is all it needs.

    answer.py REQUESTS.jsonl ANSWERS.jsonl --server http://127.0.0.1:8081/v1 [--model NAME] [--key-env OPENAI_API_KEY]
    answer.py REQUESTS.jsonl ANSWERS.jsonl --by-hand

What ANSWERS.jsonl holds an answer to is not asked again, so it can be stopped and started at any time, and one file serves all
waves. What came to an error is asked again.
"""
import argparse, json, os, sys, urllib.error, urllib.request


def served(request, args):
    body = dict(request["body"], **({"model": args.model} if args.model else {}))
    headers = {"Content-Type": "application/json"}
    messages = request["url"].endswith("/messages")
    if messages:
        headers["anthropic-version"] = "2023-06-01"
    if args.key_env:
        key = os.environ[args.key_env]
        headers.update({"x-api-key": key} if messages else {"Authorization": "Bearer " + key})
    post = urllib.request.Request(args.server.rstrip("/") + request["url"].removeprefix("/v1"), json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(post, timeout=args.timeout) as answer:
            response = {"status_code": answer.status, "body": json.load(answer)}
    except urllib.error.HTTPError as error:
        response = {"status_code": error.code, "body": {"error": {"message": error.read().decode(errors="replace")}}}
    return {"custom_id": request["custom_id"], "response": response, "error": None}


def written(request):
    system = [{"role": "system", "content": request["body"]["system"]}] if "system" in request["body"] else []
    for message in system + request["body"]["messages"]:
        print(f"\n--- {message['role']}\n{message['content']}")
    n = request["body"].get("n", 1)
    contents = []
    for number in range(n):
        print(f"\n--- your reply {number + 1} of {n}; a line with a dot alone ends it")
        contents.append("".join(iter(sys.stdin.readline, ".\n")))
    return {"custom_id": request["custom_id"], "contents": contents}


def is_answer(line):
    by_hand = "content" in line or "contents" in line
    return by_hand or (line.get("response") or {}).get("status_code", 500) < 400


def known_lines(path):
    """The lines of an answers' file. One that was cut off when this was stopped is taken away."""
    with open(path, "rb+") as known:
        whole, feed, last = known.read().rpartition(b"\n")
        try:
            last = [json.loads(last)] if last.strip() else []
            known.write(b"\n" if last else b"")
        except ValueError:
            known.truncate(len(whole + feed))
            last = []
    return [json.loads(line) for line in whole.splitlines() if line.strip()] + last


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("requests")
parser.add_argument("answers")
parser.add_argument("--server", help="the server's base URL, as far as /v1")
parser.add_argument("--by-hand", action="store_true", help="show each question and read the reply from the terminal")
parser.add_argument("--model", help="ask this model instead of the one that the requests name")
parser.add_argument("--key-env", help="the environment variable that holds the server's key")
parser.add_argument("--timeout", type=float, default=600, help="seconds for one answer")
args = parser.parse_args()
if bool(args.server) == args.by_hand:
    parser.error("name a --server, or answer --by-hand")

done = set()
if os.path.exists(args.answers):
    done = {line["custom_id"] for line in known_lines(args.answers) if is_answer(line)}
with open(args.requests, encoding="utf-8") as requests, open(args.answers, "a", encoding="utf-8") as answers:
    for request in map(json.loads, requests):
        if request["custom_id"] not in done:
            line = written(request) if args.by_hand else served(request, args)
            answers.write(json.dumps(line) + "\n")
            answers.flush()
            print(request["custom_id"], line.get("response", {}).get("status_code", "written"), file=sys.stderr)
