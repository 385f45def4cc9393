import json
import os
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt  # Debian: python3-jwt and python3-cryptography

ISSUER = os.environ["GATEHOUSE_URL"]  # BASE_URL of Gatehouse
AUDIENCE = os.environ["IDENTITY_AUDIENCE"]
KEYS_SECONDS = 300  # then a key that was withdrawn is no longer believed
AGAIN_SECONDS = 1  # for a key that is not known
LEEWAY_SECONDS = 5  # between the clocks


class Keys(jwt.PyJWKClient):
    """By itself it would fetch for every unknown key, and forget all of them if that fails."""

    lock, tried_at = threading.Lock(), float("-inf")

    def fetch_data(self):
        with self.lock:
            if time.monotonic() - self.tried_at > AGAIN_SECONDS:
                self.tried_at = time.monotonic()
                with urllib.request.urlopen(self.uri, timeout=5) as response:
                    self.jwk_set_cache.put(json.load(response))
            return self.jwk_set_cache.get() or {"keys": []}


keys = Keys(f"{ISSUER}/.well-known/jwks.json", lifespan=KEYS_SECONDS)


def verify(token):
    """Returns the claims of a valid identity token; None for anything else."""
    if "=" in token:
        return None  # a token has no padding (RFC 7515), which PyJWT would ignore
    try:
        key = keys.get_signing_key_from_jwt(token).key
        claims = jwt.decode(
            token,
            key,
            algorithms=["EdDSA"],
            issuer=ISSUER,
            audience=AUDIENCE,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp"]},
        )
        return claims if claims["aud"] == AUDIENCE else None  # of several it would take any
    except (jwt.PyJWTError, AttributeError, TypeError, ValueError, RecursionError, OSError):
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
