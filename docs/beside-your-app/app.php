<?php
// Debian: php-apcu, which keeps the keys between requests.
const KEYS_SECONDS = 300; // then a key that was withdrawn is no longer believed
const AGAIN_SECONDS = 1; // for a key that is not known
const LEEWAY_SECONDS = 5; // between the clocks

function decode(string $part): string
{
    return base64_decode(strtr($part, '-_', '+/'));
}

/** @return array<string, string> */
function fetchKeys(): array
{
    $context = stream_context_create(['http' => ['timeout' => 5]]);
    $text = @file_get_contents(getenv('GATEHOUSE_URL') . '/.well-known/jwks.json', false, $context);
    if ($text === false) {
        throw new RuntimeException('The keys cannot be fetched.');
    }
    $keys = array_filter(json_decode($text, true)['keys'], fn ($key) => $key['crv'] === 'Ed25519');
    return array_map('decode', array_column($keys, 'x', 'kid'));
}

function findKey(string $kid): ?string
{
    $keys = apcu_entry('gatehouse-keys', fn () => fetchKeys(), KEYS_SECONDS);
    if (!isset($keys[$kid]) && apcu_add('gatehouse-asked', true, AGAIN_SECONDS)) {
        $keys = fetchKeys();
        apcu_store('gatehouse-keys', $keys, KEYS_SECONDS);
    }
    return $keys[$kid] ?? null;
}

/** The claims of a valid identity token; null for anything else. */
function verify(string $token): ?array
{
    if (!preg_match('/^([\w-]+)\.([\w-]+)\.([\w-]+)$/D', $token, $parts)) {
        return null;
    }
    try {
        [, $head, $body, $signature] = $parts;
        $header = json_decode(decode($head), true);
        $key = ($header['alg'] ?? null) === 'EdDSA' ? findKey($header['kid'] ?? '') : null;
        if ($key === null || !sodium_crypto_sign_verify_detached(decode($signature), "$head.$body", $key)) {
            return null;
        }
        $claims = json_decode(decode($body), true);
        $isOurs = ($claims['iss'] ?? null) === getenv('GATEHOUSE_URL')
            && ($claims['aud'] ?? null) === getenv('IDENTITY_AUDIENCE');
        $expires = $claims['exp'] ?? null;
        return $isOurs && is_int($expires) && time() < $expires + LEEWAY_SECONDS ? $claims : null;
    } catch (Throwable) {
        return null;
    }
}

$claims = verify($_SERVER['HTTP_GATEHOUSE_IDENTITY'] ?? '');
if ($claims === null) {
    http_response_code(401);
    exit("who are you?\n");
}
header('content-type: text/plain');
echo "{$claims['sub']} of {$claims['tenant']}\n";
