<?php

declare(strict_types=1);

const TOLERANCE_SECONDS = 300;

/**
 * Reports whether a delivery is authentic and recent.
 *
 * @param string $secret the endpoint's secret as shown: whsec_…
 * @param ?string $timestamp the header webhook-timestamp, null when absent
 * @param ?string $signature the header webhook-signature, null when absent
 * @param string $body the raw bytes, before any parsing
 * @param ?int $now Unix seconds
 */
function verify(
    string $secret,
    ?string $timestamp,
    ?string $signature,
    string $body,
    ?int $now = null
): bool {
    if ($secret === '' || preg_match('/\A[0-9]{1,12}\z/', $timestamp ?? '') !== 1) {
        return false;
    }
    if (abs(($now ?? time()) - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $digest = hash_hmac('sha256', "$timestamp.$body", $secret, true);
    $expected = 'v1,' . base64_encode($digest);
    foreach (explode(' ', $signature ?? '') as $one) {
        if (hash_equals($expected, $one)) {
            return true;
        }
    }
    return false;
}

// WEBHOOK_SECRET=whsec_… php verify.php TIMESTAMP SIGNATURE [NOW] < body
if (PHP_SAPI === 'cli' && realpath($argv[0]) === __FILE__) {
    $secret = getenv('WEBHOOK_SECRET') ?: '';
    $body = file_get_contents('php://stdin');
    $now = isset($argv[3]) ? (int) $argv[3] : null;
    $good = verify($secret, $argv[1] ?? null, $argv[2] ?? null, $body, $now);
    echo $good ? "good\n" : "bad\n";
    exit($good ? 0 : 1);
}
