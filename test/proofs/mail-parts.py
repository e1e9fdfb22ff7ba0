"""Reads the files named on standard input, one in each line, as mail and prints what they contain, a line of JSON for each.

It is the second opinion of mail-corpus.ts: a parser that shares no code with the service.
"""

import email
import email.header
import email.policy
import html
import json
import re
import sys

WORD = re.compile(r"[^\W\d_]{4,}")
MOST_WORDS = 400


def words(text):
    return list(dict.fromkeys(WORD.findall(text)))[:MOST_WORDS]


def visible(source):
    source = re.sub(r"(?is)<!--.*?-->|<(script|style|head|title)\b.*?</\1\s*>", " ", source)
    return html.unescape(re.sub(r"(?s)<[^<>]*>", " ", source))


def decoded(part):
    data = part.get_payload(decode=True) or b""
    try:
        charset = part.get_content_charset() or "utf-8"
        return data, data.decode(charset)
    except (LookupError, UnicodeError, ValueError):
        # Only the words that are the same in every charset.
        return data, re.sub(r"\w*[^\x00-\x7f]\w*", " ", data.decode("latin-1"))


def subject_of(message):
    try:
        return str(email.header.make_header(email.header.decode_header(message.get("Subject", ""))))
    except Exception:
        return None


def leaves(part):
    """Leaves of the tree; a message inside of a message is one."""
    if part.get_content_maintype() == "multipart" and part.is_multipart():
        for child in part.get_payload():
            yield from leaves(child)
    else:
        yield part


def describe(path):
    with open(path, "rb") as file:
        message = email.message_from_binary_file(file, policy=email.policy.compat32)
    texts, files = [], []
    for part in leaves(message):
        kind = part.get_content_type()
        disposition = part.get_content_disposition()
        try:
            name = part.get_filename()
        except Exception:
            name = "?"
        if kind in ("text/plain", "text/html") and disposition != "attachment" and not name:
            _, text = decoded(part)
            found = words(visible(text) if kind == "text/html" else text)
            texts.append({"type": kind, "charset": part.get_param("charset") and str(part.get_param("charset")), "words": found})
        else:
            data = b"x" if part.is_multipart() else part.get_payload(decode=True) or b""
            embedded = disposition == "inline" or part.get("Content-ID") is not None
            files.append({"type": kind, "name": name and str(name), "bytes": len(data), "embedded": embedded})
    return {"type": message.get_content_type(), "subject": subject_of(message), "texts": texts, "files": files}


for line in sys.stdin:
    try:
        found = describe(line.rstrip("\n"))
    except Exception as error:
        found = {"error": repr(error)}
    print(json.dumps(found), flush=True)
