import Type from 'typebox'

/** The settings of webhooks to customers. */
const outboundSettings = {
  OUTBOUND_RETRY_SECONDS: Type.String({
    default: '0,5,30,300,3600',
    description:
      'Comma-separated waits in seconds before attempts 1, 2, … of a delivery, each counted from the end of the attempt before.',
  }),
  OUTBOUND_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 30_000,
    default: 10_000,
    description: 'Milliseconds an attempt may take, from connect to the last byte of the answer.',
  }),
  OUTBOUND_SIGNATURE: Type.Union(
    [Type.Literal('spec'), Type.Literal('standard'), Type.Literal('both')],
    {
      default: 'spec',
      description: 'Signature profile of a new endpoint that names none: spec, standard or both.',
    },
  ),
  OUTBOUND_ALLOW: Type.String({
    default: '',
    description:
      'Comma-separated exact host:port pairs that deliveries may reach although the rules for addresses and schemes forbid it, for receivers in development and tests. Danger: customers choose the URLs, so whatever stands here can be called by every one of them.',
    demo: 'the demo’s receiver',
  }),
  OUTBOUND_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    default: 90,
    description: 'Days an event that was sent is kept, with its deliveries and their attempts.',
  }),
}

/** The settings of OpenTelemetry, under the names that its own documentation gives them. */
const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Base URL of an OpenTelemetry collector that takes OTLP over HTTP, for instance http://127.0.0.1:4318; traces are posted to URL/v1/traces. Without it nothing is traced.',
    }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Comma-separated name=value headers for the collector, values percent-encoded, for instance authorization=Bearer%20KEY.',
    }),
  ),
  OTEL_SERVICE_NAME: Type.String({
    minLength: 1,
    maxLength: 255,
    default: 'gatehouse',
    description: 'Name of this service in traces.',
  }),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 1,
    description:
      'Share of the traces begun here that are recorded, 0 to 1. A trace that a trusted proxy began is recorded when the proxy says so.',
  }),
}

/**
 * Every setting of the program, documented where it is defined. `.env.example` and the settings
 * table of the README are generated from these schemas (`npm run generate`).
 *
 * `default` is the value used everywhere; `demo` says what stands in outside production.
 */
export const Settings = Type.Object({
  NODE_ENV: Type.String({
    default: 'development',
    description:
      '`production` embeds nothing and guesses nothing: every missing setting is a fault.',
  }),
  HOST: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Address to listen on. 127.0.0.1, in production 0.0.0.0.',
    }),
  ),
  PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 3000,
    description: 'Port to listen on; 0 takes a free one.',
  }),
  BASE_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Public origin, for instance https://app.example.com. The redirect URI registered with every provider is exactly BASE_URL/auth/callback; where it offers logout, register BASE_URL/auth/signed-out as post-logout redirect URI and BASE_URL/auth/backchannel-logout/NAME as back-channel logout URI.',
      demo: 'http://localhost:PORT',
    }),
  ),
  ADMIN_HOST: Type.String({
    minLength: 1,
    default: '127.0.0.1',
    description: 'Address of the admin listener (/healthz, /readyz, /metrics). Never a public one.',
  }),
  ADMIN_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9464,
    description: 'Port of the admin listener; 0 takes a free one.',
  }),
  TRUST_PROXY: Type.String({
    default: '',
    description:
      'Comma-separated addresses of proxies whose X-Forwarded headers are believed. Danger: an address too many lets a caller forge its own.',
  }),
  ROLE: Type.Union([Type.Literal('all'), Type.Literal('web'), Type.Literal('worker')], {
    default: 'all',
    description: 'What this process does: all, web or worker.',
  }),
  DRAIN_SECONDS: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 300,
      description:
        'Seconds that a process told to stop (SIGTERM) still takes requests: /readyz is 503 and every answer ends its connection, so that balancers leave it before it stops listening. 3 in production, else 0. The stop as a whole takes up to 12 s more, so whoever would kill it must wait longer.',
    }),
  ),
  DATABASE_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Connection of the application role: no superuser, no BYPASSRLS, owner of nothing. Through a pooler in transaction mode add ?pgbouncer=true.',
      demo: 'an embedded PostgreSQL in .data/',
    }),
  ),
  DATABASE_WORKER_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Connection of the worker role, for jobs. With it the application role cannot write what only jobs write (invoices, plans, the state of received events). Default: DATABASE_URL.',
      demo: 'a role of its own in the embedded PostgreSQL',
    }),
  ),
  DATABASE_OWNER_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Connection of the owner of the schema; read by `migrate` and `seed` only.',
      demo: 'the owner in the embedded PostgreSQL',
    }),
  ),
  DATABASE_POOL_SIZE: Type.Integer({
    minimum: 2,
    maximum: 500,
    default: 10,
    description: 'Connections for scoped work. Sessions and jobs use a few more of their own.',
  }),
  DATABASE_CONTEXT: Type.Union([Type.Literal('set-local'), Type.Literal('set-config')], {
    default: 'set-local',
    description:
      'How tenant and user are sent with each transaction: as SET LOCAL (Citus forwards nothing else to its nodes), or by set_config with parameters, for a proxy that takes no message of several statements.',
  }),
  SESSION_SECRETS: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Comma-separated, at least 32 characters each. The first signs session cookies, all verify them (rotation).',
      demo: 'random, kept in .data/',
    }),
  ),
  SESSION_IDLE_SECONDS: Type.Integer({
    minimum: 60,
    default: 43_200,
    description: 'A session unused for this many seconds ends.',
  }),
  SESSION_ABSOLUTE_SECONDS: Type.Integer({
    minimum: 60,
    default: 604_800,
    description: 'A session ends this many seconds after sign-in, used or not.',
  }),
  ENCRYPTION_KEYS: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Comma-separated keyId:base64(32 bytes). The first encrypts what is kept secret in the database, all decrypt (rotation: put the new key first, run `gatehouse keys rotate`, then drop the old one). Danger: what was encrypted with a lost key is lost.',
      demo: 'random, kept in .data/',
    }),
  ),
  OIDC_PROVIDERS: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Comma-separated names of identity providers ([a-z][a-z0-9_]*). The name is part of the identity key: never give it to another issuer.',
      demo: '`demo`, a provider on this machine',
    }),
  ),
  SIGN_IN_RETURN_TO: Type.String({
    default: '/',
    description:
      'Path to go to after sign-in. Further exact paths may be listed, comma-separated; nothing else is ever redirected to.',
  }),
  BILLING_WEBHOOK_SECRETS: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Comma-separated signing secrets of the billing provider; every one verifies (rotation).',
      demo: 'random, kept in .data/',
    }),
  ),
  BILLING_API_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Billing provider’s API, for instance https://api.example.com/v1. When set, a subscription is fetched from URL/subscriptions/ID before an event about it is worked on, and the newest state wins; without it an event older than what was applied is ignored.',
      demo: 'a sample API on this machine',
    }),
  ),
  BILLING_API_KEY: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Key for BILLING_API_URL, sent as a bearer token.',
      demo: 'random',
    }),
  ),
  BILLING_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    default: 30,
    description:
      'Days the raw body of a received event is kept. Its id is kept for good, so a late copy is still a duplicate; without its body it cannot be replayed.',
  }),
  ...outboundSettings,
  OPERATORS: Type.String({
    default: '',
    description:
      'Comma-separated provider:subject pairs of the people who run the service. They alone see received billing events and replay them; a role in a tenant gives no part in it.',
    demo: '`demo:ada`',
  }),
  RATE_LIMIT_SIGN_IN: Type.String({
    default: '30/60',
    description:
      'Requests/seconds on the sign-in routes, per address and per browser session; `off` switches the limit off.',
  }),
  RATE_LIMIT_WEBHOOKS: Type.String({
    default: '10000/60',
    description:
      'Requests/seconds per address on inbound webhooks and back-channel logout; `off` switches the limit off.',
  }),
  RATE_LIMIT_API: Type.String({
    default: '600/60',
    description:
      'Requests/seconds per session on everything else, and per address on paths that do not exist; `off` switches the limit off.',
  }),
  SMTP_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Mail server for alerts about webhook endpoints: smtp://user:password@host:port (587; STARTTLS where it is offered, and demanded before a password leaves the machine) or smtps://… (465). Without it alerts are notifications and log lines.',
    }),
  ),
  ALERT_FROM: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Sender of alerts: an address, or `Name <address>`. Needed with SMTP_URL.',
    }),
  ),
  REDIS_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'redis:// or rediss:// URL of a Redis 7 or newer. Set it when several web processes run, so that they share the counts of their rate limits; without it, and while it is away, each counts for itself.',
    }),
  ),
  LOG_LEVEL: Type.Union(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'].map((level) =>
      Type.Literal(level),
    ),
    { default: 'info', description: 'JSON lines on standard output; pretty on a terminal.' },
  ),
  ...tracingSettings,
  GATEHOUSE_NOW: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Outside production: an RFC 3339 time from which the program’s clock runs on. Database time is not moved.',
    }),
  ),
})

/** The settings of one provider; `OIDC_<NAME>_` stands before each name. */
export const ProviderSettings = Type.Object({
  ISSUER: Type.String({
    minLength: 1,
    description: 'Issuer, exactly as the provider’s metadata spells it.',
  }),
  CLIENT_ID: Type.String({ minLength: 1, description: 'Client id registered with the provider.' }),
  CLIENT_SECRET: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Client secret; several, comma-separated, for rotation without downtime. Not needed for private_key_jwt.',
    }),
  ),
  SCOPES: Type.String({
    default: 'openid email profile',
    description: 'Scopes asked for at sign-in; the least that does the job.',
  }),
  LABEL: Type.Optional(
    Type.String({ description: 'Text on the sign-in button; default the name.' }),
  ),
  CLIENT_AUTH: Type.Union(
    [
      Type.Literal('client_secret_post'),
      Type.Literal('client_secret_basic'),
      Type.Literal('private_key_jwt'),
    ],
    {
      default: 'client_secret_post',
      description:
        'How the client proves itself: client_secret_post, client_secret_basic or private_key_jwt.',
    },
  ),
  PRIVATE_KEY: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'For private_key_jwt: a private JWK as JSON with kid and alg inside, or the path of a file with it.',
    }),
  ),
  ID_TOKEN_ALG: Type.String({
    default: 'RS256',
    description: 'Comma-separated allow-list of id_token algorithms, asymmetric only.',
  }),
  TRUST_EMAIL: Type.String({
    default: 'false',
    description:
      '`true`, or the comma-separated domains this provider may vouch for. Danger: with it, whoever controls an address at the provider controls the account with that address here.',
  }),
  STORE_TOKENS: Type.Boolean({
    default: false,
    description:
      'Keep access and refresh tokens, encrypted, because the provider’s API is called later. With offline_access among the scopes the consent that it needs is asked for.',
  }),
  USERINFO: Type.Boolean({
    default: false,
    description:
      'Also call userinfo after the exchange, for an e-mail address or a name that the id_token lacks.',
  }),
})
