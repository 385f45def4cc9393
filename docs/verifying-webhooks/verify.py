import base64
import hashlib
import hmac
import os
import re
import sys
import time

TOLERANCE_SECONDS = 300


def verify(secret, timestamp, signature, body, now=None):
    """Reports whether a delivery is authentic and recent.

    secret: the endpoint's secret as shown: whsec_…
    timestamp, signature: the headers webhook-timestamp and webhook-signature, or None
    body: the raw bytes, before any parsing
    now: Unix seconds
    """
    if not secret or not signature or not re.fullmatch("[0-9]{1,12}", timestamp or ""):
        return False
    now = int(time.time()) if now is None else now
    if abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    # compare_digest takes no str with other letters than ASCII: they become "?", which never fits.
    given = signature.encode("ascii", "replace").split(b" ")
    return any(hmac.compare_digest(one, expected) for one in given)


# WEBHOOK_SECRET=whsec_… python3 verify.py TIMESTAMP SIGNATURE [NOW] < body
if __name__ == "__main__":
    timestamp, signature, now = (sys.argv[1:] + [None] * 3)[:3]
    secret = os.environ.get("WEBHOOK_SECRET")
    good = verify(secret, timestamp, signature, sys.stdin.buffer.read(), now and int(now))
    print("good" if good else "bad")
    sys.exit(0 if good else 1)
