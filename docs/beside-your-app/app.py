import json
import os
import re
import time
import urllib.request
from base64 import urlsafe_b64decode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# The standard library has no Ed25519. Debian: python3-cryptography.
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ISSUER = os.environ["GATEHOUSE_URL"]  # BASE_URL of Gatehouse
AUDIENCE = os.environ["IDENTITY_AUDIENCE"]
KEYS_SECONDS = 300  # then a key that was withdrawn is no longer believed
AGAIN_SECONDS = 1  # for a key that is not known
LEEWAY_SECONDS = 5  # between the clocks
keys, fetched_at = {}, float("-inf")


def decode(part):
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def find_key(kid):
    global keys, fetched_at
    age = time.monotonic() - fetched_at
    if age > KEYS_SECONDS or (kid not in keys and age > AGAIN_SECONDS):
        with urllib.request.urlopen(f"{ISSUER}/.well-known/jwks.json", timeout=5) as response:
            found = [key for key in json.load(response)["keys"] if key["crv"] == "Ed25519"]
        keys = {key["kid"]: Ed25519PublicKey.from_public_bytes(decode(key["x"])) for key in found}
        fetched_at = time.monotonic()
    return keys[kid]


def verify(token):
    """Returns the claims of a valid identity token; None for anything else."""
    if len(token) > 8192 or not re.fullmatch(r"[\w-]+\.[\w-]+\.[\w-]+", token, re.ASCII):
        return None
    head, body, signature = token.split(".")
    try:
        header = json.loads(decode(head))
        if header["alg"] != "EdDSA":
            return None
        find_key(header["kid"]).verify(decode(signature), f"{head}.{body}".encode())
        claims = json.loads(decode(body))
        is_ours = claims["iss"] == ISSUER and claims["aud"] == AUDIENCE
        return claims if is_ours and time.time() < claims["exp"] + LEEWAY_SECONDS else None
    except (InvalidSignature, KeyError, TypeError, ValueError, RecursionError, OSError):
        return None  # OSError: the keys cannot be fetched


class App(BaseHTTPRequestHandler):
    def do_GET(self):
        claims = verify(self.headers.get("gatehouse-identity", ""))
        text = "who are you?" if claims is None else f"{claims['sub']} of {claims.get('tenant')}"
        self.send_response(401 if claims is None else 200)
        self.end_headers()
        self.wfile.write(f"{text}\n".encode())

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), App).serve_forever()
