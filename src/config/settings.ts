import Type from 'typebox'
import { currencyPattern } from '#src/runtime/currencies.ts'

/** Unlike a port that is set, the usual one gives way: another demo may have it. */
function demoPort(part: string, usual: number) {
  return Type.Integer({
    minimum: 0,
    maximum: 65_535,
    demo: `${usual}, or a free port if it is taken`,
    process: 'the demo',
    description: `Port of the demo's ${part}, which is printed at the start. If it is set and taken, the start fails; 0 chooses a free port.`,
  })
}

/**
 * Every setting with its documentation. `.env.example` and the settings table are generated from
 * these schemas (`npm run generate`).
 *
 * `default` applies everywhere; `demo` describes the value outside production. A `secret` may be in
 * a file instead (secret-files.ts). `process` names what reads it, if that is not every process.
 */
export const Settings = Type.Object({
  NODE_ENV: Type.String({
    default: 'development',
    description: 'With `production` there are no demo values: every required setting must be set.',
  }),
  HOST: Type.Optional(
    Type.String({
      minLength: 1,
      process: 'web',
      description: 'Address to listen on. Default: 127.0.0.1, in production 0.0.0.0.',
    }),
  ),
  PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 3000,
    process: 'web',
    description: 'Port to listen on; 0 chooses a free port.',
  }),
  BASE_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Public origin, for instance https://app.example.com. Register BASE_URL/auth/callback as redirect URI with every provider. If the provider supports logout, also register BASE_URL/auth/signed-out as post-logout redirect URI and BASE_URL/auth/backchannel-logout/NAME as back-channel logout URI.',
      demo: 'http://localhost:PORT',
    }),
  ),
  ADMIN_HOST: Type.String({
    minLength: 1,
    default: '127.0.0.1',
    description:
      'Address of the admin listener (/healthz, /readyz, /metrics). It must not be public.',
  }),
  ADMIN_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9464,
    description: 'Port of the admin listener; 0 chooses a free port.',
  }),
  TRUST_PROXY: Type.String({
    default: '',
    process: 'web',
    description:
      'Comma-separated addresses or CIDR ranges of proxies whose X-Forwarded-For header is trusted. A range of almost everyone is refused. Danger: a client at a listed address can forge its IP address.',
  }),
  MAX_CONNECTIONS: Type.Integer({
    minimum: 10,
    maximum: 1_000_000,
    default: 10_000,
    process: 'web',
    description:
      'Connections that a process keeps open on PORT; further ones are closed. The limit of open files of the process must be higher.',
  }),
  MAX_CONNECTIONS_PER_ADDRESS: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 500,
    process: 'web',
    description:
      'Of these, connections from one address (IPv6: one /64 prefix); further ones get 429. It does not apply to addresses in TRUST_PROXY, which hold the connections of many clients: limit them in the proxy.',
  }),
  ROLE: Type.Union([Type.Literal('all'), Type.Literal('web'), Type.Literal('worker')], {
    default: 'all',
    description: 'Role of this process: all, web or worker.',
  }),
  DRAIN_SECONDS: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 300,
      description:
        'Seconds for which requests are still accepted after SIGTERM. Meanwhile /readyz is 503 and every response closes its connection, so that load balancers stop sending requests before the process stops listening. Default: 3 in production, otherwise 0. Stopping takes up to 12 s more; set the kill timeout accordingly.',
    }),
  ),
  DATABASE_URL: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      process: 'web, migrate',
      description:
        'Connection of the application role, which must not be a superuser, have BYPASSRLS or own objects. With a pooler in transaction mode, add ?pgbouncer=true. Not needed with ROLE=worker if DATABASE_WORKER_URL is set.',
      demo: 'an embedded PostgreSQL in .data/',
    }),
  ),
  DATABASE_WORKER_URL: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      process: 'worker, migrate',
      description:
        'Connection of the worker role, for jobs. If set, the application role cannot write what only jobs write (invoices, plans, the state of received events). Default: DATABASE_URL. Not needed with ROLE=web.',
      demo: 'a separate role in the embedded PostgreSQL',
    }),
  ),
  DATABASE_OWNER_URL: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      process: 'migrate',
      description:
        'Connection of the schema owner; used only by `migrate`, `seed`, `user`, `tenant` and `app-tokens`.',
      demo: 'the owner in the embedded PostgreSQL',
    }),
  ),
  DATABASE_POOL_SIZE: Type.Integer({
    minimum: 2,
    maximum: 500,
    default: 10,
    description:
      'Connections for scoped transactions. Sessions and jobs use a few additional connections.',
  }),
  SESSION_SECRETS: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      process: 'web',
      description:
        'Comma-separated secrets of at least 32 characters. The first signs session cookies, all verify them. To rotate `old` to `new`, restart every process with `old,new`, then every process with `new,old`, and after SESSION_ABSOLUTE_SECONDS with `new`. Not needed with ROLE=worker.',
      demo: 'random, kept in .data/',
    }),
  ),
  SESSION_IDLE_SECONDS: Type.Integer({
    minimum: 60,
    default: 43_200,
    description: 'A session ends after this many seconds without a request.',
  }),
  SESSION_ABSOLUTE_SECONDS: Type.Integer({
    minimum: 60,
    default: 604_800,
    description: 'A session ends this many seconds after sign-in.',
  }),
  ENCRYPTION_KEYS: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      description:
        'Comma-separated keyId:base64(32 bytes). The first encrypts secrets in the database, all decrypt them. To rotate `a` to `b`, restart every process with `a,b`, then every process with `b,a`, run `gatehouse keys rotate`, then restart with `b`; `gatehouse keys status` names the next step and says whether it is safe. Danger: data encrypted with a lost key cannot be recovered.',
      demo: 'random, kept in .data/',
    }),
  ),
  OIDC_PROVIDERS: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Comma-separated names of identity providers ([a-z][a-z0-9_]*). The name is part of the identity key and never changes its issuer: people who are known from another issuer are refused.',
      demo: '`demo`, a provider on this machine',
    }),
  ),
  SIGN_UP: Type.Union([Type.Literal('open'), Type.Literal('invited'), Type.Literal('closed')], {
    default: 'open',
    process: 'web',
    description:
      'Who may get an account: open (everyone whom a provider signs in), invited (only addresses with an open invitation, verified by a provider that TRUST_EMAIL trusts or by opening the link of the invitation), closed (nobody). Accounts that exist and OPERATORS are not affected.',
  }),
  SIGN_IN_RETURN_TO: Type.String({
    default: '/',
    process: 'web',
    description:
      'Path to redirect to after sign-in. Further exact paths may be listed, comma-separated: `/auth/login?return_to=PATH` takes one of them, one of the program’s own pages or a URL of an origin in APP_ORIGINS, and nothing else. `/*` stands for every path of an app behind the same proxy, with any query.',
  }),
  IDENTITY_AUDIENCE: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      pattern: '^[ -~]+$',
      process: 'web',
      description:
        'Audience (`aud`) of the identity tokens that /auth/verify signs for the app behind the proxy; the app accepts no other. For several apps a comma-separated list: the first is the default, and the proxy of each other app asks with `?audience=`. An audience may be followed, after a blank, by the origins of its app on the host of BASE_URL: then its tokens are made for requests to these origins only, and a sign-in returns there. Default: BASE_URL.',
    }),
  ),
  APP_ORIGINS: Type.String({
    default: '',
    process: 'web',
    description:
      'Comma-separated exact origins of front ends of the same site as BASE_URL, for instance https://app.example.com beside https://auth.example.com. Their pages may call the API with the session cookie, and a sign-in may return to them. A script there can act as the person who is signed in.',
  }),
  CORS_ORIGINS: Type.String({
    default: '',
    process: 'web',
    description:
      'Comma-separated exact origins, for instance https://app.example.com, whose pages may call the API from a browser with an API token. Cookies are never accepted from there; APP_ORIGINS is for origins that may send them.',
  }),
  PORTAL_FRAME_ORIGINS: Type.String({
    default: '',
    process: 'web',
    description:
      'Comma-separated exact origins, for instance https://app.example.com, whose pages may show the portal in a frame; without any it opens in a window of its own. Danger: a page of such an origin can lead its visitors to click in the portal.',
  }),
  BILLING_PROVIDER: Type.Union(
    [
      Type.Literal('signed'),
      Type.Literal('stripe'),
      Type.Literal('paddle'),
      Type.Literal('standard'),
    ],
    {
      default: 'signed',
      description:
        'Billing provider: signed (the format of docs/billing-events.md), stripe, paddle (Paddle Billing) or standard (Standard Webhooks, for instance Polar).',
    },
  ),
  BILLING_WEBHOOK_SECRETS: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      process: 'web',
      description:
        'Comma-separated signing secrets of the billing provider; all verify (for rotation). Without any BILLING_… setting it may be empty: nothing is billed, and billing webhooks are refused. Not needed with ROLE=worker.',
      demo: 'random, kept in .data/',
    }),
  ),
  BILLING_API_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'API of the billing provider, for instance https://api.example.com/v1. If set, the current subscription is fetched from URL/subscriptions/ID before an event about it is processed. Without it, an event older than the last applied one is ignored. With stripe and paddle it has a default and BILLING_API_KEY is enough.',
      demo: 'a sample API on this machine',
    }),
  ),
  BILLING_API_KEY: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      process: 'worker; web with stripe or paddle',
      description:
        'API key for BILLING_API_URL, sent as a bearer token. With ROLE=web only stripe and paddle need it, to start checkouts.',
      demo: 'random',
    }),
  ),
  BILLING_PLANS: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Plans by the provider’s price (with standard also its product), comma-separated, for instance price_123:pro,price_456:team. Of several plans that a customer pays for, the one listed last counts, so list the smallest first. A subscription to another price gives no plan. Without it every subscription gives the plan `pro`.',
    }),
  ),
  BILLING_CUSTOMER: Type.Enum(['person', 'tenant'], {
    default: 'person',
    description:
      'Who buys a plan. person: everybody for themselves. tenant: those who manage a tenant, for all of its members; its invoices are theirs to see, and the quantity of the subscription is the number of its seats.',
  }),
  BILLING_METADATA: Type.Optional(
    Type.String({
      minLength: 1,
      process: 'worker',
      description:
        'Comma-separated keys of the metadata of a subscription (with paddle of its custom data) that GET /subscriptions shows, for instance seats_for,order_number. Without it none is kept. Keys that begin with gatehouse_ are never shown.',
    }),
  ),
  APP_WEBHOOK_URL: Type.Optional(
    Type.String({
      minLength: 1,
      process: 'worker',
      description:
        'URL of your app that every processed billing event is posted to, signed as Standard Webhooks, with the attempts of OUTBOUND_RETRY_SECONDS. It may be a private address. Not needed with ROLE=web.',
    }),
  ),
  APP_WEBHOOK_SECRETS: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      process: 'worker',
      description:
        'Comma-separated secrets that sign what is posted to APP_WEBHOOK_URL: whsec_ and 24 to 64 random bytes in base64. All sign. To rotate `old` to `new`, restart with `new,old`, then let the app verify with `new`, then restart with `new`. Not needed with ROLE=web.',
    }),
  ),
  BILLING_UNVERIFIED_MIB: Type.Integer({
    minimum: 4,
    maximum: 65_536,
    default: 64,
    process: 'web',
    description:
      'Memory in MiB that a process uses at most for webhook bodies whose signature is not verified yet; one address can use a quarter. Beyond it senders get 503 with Retry-After.',
  }),
  BILLING_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    default: 30,
    description:
      'Days for which the raw body of a received event is kept. Without its body an event cannot be replayed. Its id is kept forever, so a late duplicate is still recognised. A finished replay is deleted after the same time.',
  }),
  OUTBOUND_RETRY_SECONDS: Type.String({
    default: '0,5,30,300,3600',
    description:
      'Comma-separated delays in seconds before attempts 1, 2, … of a delivery, each counted from the end of the previous attempt. A receiver can ask for a longer one with Retry-After, at most two hours.',
  }),
  OUTBOUND_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 30_000,
    default: 10_000,
    description:
      'Timeout of a delivery attempt in milliseconds, from connect to the last byte of the response.',
  }),
  OUTBOUND_PER_ADDRESS: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 100,
    description:
      'Delivery attempts in progress at one address (IPv6: one /64 prefix), in each process, over all tenants, of which one gets half. Attempts beyond it are made later and do not count as failed.',
  }),
  OUTBOUND_LOG_PER_SECOND: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 100,
    description:
      'Log lines per second of each process for successful delivery attempts, and as many for failed ones. Attempts beyond it are counted in one more line.',
  }),
  OUTBOUND_SIGNATURE: Type.Union(
    [Type.Literal('spec'), Type.Literal('standard'), Type.Literal('both')],
    {
      default: 'spec',
      description: 'Default signature profile of a new endpoint: spec, standard or both.',
    },
  ),
  OUTBOUND_ALLOW: Type.String({
    default: '',
    description:
      'Comma-separated exact host:port pairs that deliveries may reach although the rules for addresses and schemes forbid it, for receivers in development and tests. Danger: customers choose the URLs, so every customer can send requests to these hosts.',
    demo: 'the demo’s receiver',
  }),
  OUTBOUND_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    default: 90,
    description:
      'Days for which a sent event is kept, with its deliveries and attempts; also a notification, a finished replay and an expired invitation.',
  }),
  OUTBOUND_FEED_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    default: 30,
    description:
      'Days for which the event feed of a tenant without an endpoint goes back, if they are fewer than OUTBOUND_RETENTION_DAYS.',
  }),
  AUDIT_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    default: 365,
    process: 'worker',
    description: 'Days for which an entry of the audit log is kept.',
  }),
  OPERATORS: Type.String({
    default: '',
    description:
      'Comma-separated provider:subject pairs of the operators. Only a session that was signed in with exactly this identity can see and replay received billing events; this does not depend on a role in a tenant, nor on the other identities of the user. Workers write the list to the database when they start, so after a change restart all processes with the same value.',
    demo: '`demo:ada`',
  }),
  RATE_LIMIT_SIGN_IN: Type.String({
    default: '30/60',
    process: 'web',
    description:
      'Requests/seconds on the sign-in routes, per address and per browser session; `off` disables the limit.',
  }),
  RATE_LIMIT_WEBHOOKS: Type.String({
    default: '10000/60',
    process: 'web',
    description: 'Requests/seconds per address on inbound webhooks; `off` disables the limit.',
  }),
  RATE_LIMIT_LOGOUT: Type.String({
    default: '300/60',
    process: 'web',
    description:
      'Requests/seconds per address on back-channel logout, which only identity providers call; `off` disables the limit.',
  }),
  RATE_LIMIT_VERIFY: Type.String({
    default: '6000/60',
    process: 'web',
    description:
      'Requests/seconds per session on /auth/verify, which a proxy asks for every request to the app behind it; `off` disables the limit.',
  }),
  RATE_LIMIT_PUBLISH: Type.String({
    default: '6000/60',
    process: 'web',
    description:
      'Requests/seconds per app token, on all routes for the app; `off` disables the limit.',
  }),
  RATE_LIMIT_API: Type.String({
    default: '600/60',
    process: 'web',
    description:
      'Requests/seconds per session on all other routes, and per address on unknown paths; `off` disables the limit.',
  }),
  QUOTA_RESOURCES: Type.String({
    default: '500000/1024',
    description:
      'Rows/MiB of the resources of the app, folders, teams, team members and invitations that a tenant may store; `off` disables the limit. Bytes are those of the texts, without indexes, 180 for each word that a search finds them by, and 1 KiB for what the owner of a row can still change after leaving the tenant. `gatehouse usage limit` sets another limit for one tenant.',
  }),
  QUOTA_EVENTS: Type.String({
    default: '5000000/2048',
    description:
      'Rows/MiB of events, deliveries, attempts, replays and notifications that a tenant may store; `off` disables the limit. Beyond it, changes that publish an event are refused until old events expire.',
  }),
  DEMO_PROVIDER_PORT: Type.Optional(demoPort('provider', 3001)),
  DEMO_RECEIVER_PORT: Type.Optional(demoPort('webhook receiver', 3002)),
  DEMO_BILLING_PORT: Type.Optional(demoPort('billing API', 3003)),
  DEMO_SECOND_PROVIDER_PORT: Type.Optional(demoPort('second provider', 3004)),
  SMTP_URL: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      process: 'worker',
      description:
        'Mail server for invitations and for alerts about webhook endpoints: smtp://user:password@host:port (default port 587; STARTTLS if offered, and required before a password leaves the machine) or smtps://… (465). Without it, the members page shows the links of invitations, and alerts are only notifications and log lines. Not needed with ROLE=web, where ALERT_FROM alone says that workers send mail.',
    }),
  ),
  ALERT_FROM: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Sender of these mails: an address, or `Name <address>`. Required with SMTP_URL.',
    }),
  ),
  REDIS_URL: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      process: 'web',
      description:
        'redis:// or rediss:// URL of a Redis 7 or newer. Set it if several web processes should share their rate-limit counts. Without it, and while it is unavailable, each process counts on its own. Not needed with ROLE=worker.',
    }),
  ),
  CURRENCY: Type.String({
    pattern: currencyPattern,
    default: 'EUR',
    process: 'web',
    description: 'Currency of an order that names none, by its code of ISO 4217.',
  }),
  BRAND_NAME: Type.String({
    minLength: 1,
    maxLength: 40,
    pattern: '^[^\\x00-\\x1f\\x7f]+$',
    default: 'Gatehouse',
    description: 'Name of the product on every page and in every mail.',
  }),
  BRAND_LOGO: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Path of a square SVG, PNG or WebP image of at most 32,768 bytes, shown beside the name, a PNG also in mails, and as the icon of the browser’s tab. It is read once, at start.',
    }),
  ),
  BRAND_ACCENT: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Colour of links and buttons on light and on dark pages and in mails, comma-separated, for instance #1c5d4d,#74cbb2. The program does not start with a colour that is hard to read (a contrast below 4.5), and names one that is not.',
    }),
  ),
  BRAND_SUPPORT_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'https: or mailto: URL that “Support” below every page and mail leads to.',
    }),
  ),
  BRAND_TERMS_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'https: URL that “Terms” below every page leads to.',
    }),
  ),
  LOG_LEVEL: Type.Union(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'].map((level) =>
      Type.Literal(level),
    ),
    {
      default: 'info',
      description:
        'Lowest level that is logged. Logs are JSON lines on standard output; formatted on a terminal.',
    },
  ),
  // The names are those of the OpenTelemetry specification.
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Base URL of an OpenTelemetry collector that accepts OTLP over HTTP, for instance http://127.0.0.1:4318; traces are posted to URL/v1/traces. Without it, tracing is off.',
    }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      description:
        'Comma-separated name=value headers for the collector, values percent-encoded, for instance authorization=Bearer%20KEY.',
    }),
  ),
  OTEL_SERVICE_NAME: Type.String({
    minLength: 1,
    maxLength: 255,
    default: 'gatehouse',
    description: 'Service name in traces.',
  }),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 1,
    description:
      'Share of the traces started here that are recorded, 0 to 1. For a trace started by a trusted proxy, the decision of the proxy applies.',
  }),
  GATEHOUSE_NOW: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Outside production only: an RFC 3339 time at which the program’s clock starts. The clocks of the database, of the demo’s provider and of `trigger` are not affected.',
    }),
  ),
})

/** The settings of one provider, each with the prefix `OIDC_<NAME>_`. */
export const ProviderSettings = Type.Object({
  PRESET: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Preset with the defaults of these settings for a known provider, see docs/sign-in-providers.md; `none` for no preset. Default: that with the name of the provider, if there is one.',
    }),
  ),
  ISSUER: Type.String({
    minLength: 1,
    description: 'Issuer, exactly as in the provider’s metadata.',
  }),
  METADATA_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'URL of the metadata, if it is not ISSUER/.well-known/openid-configuration.',
    }),
  ),
  ISSUER_TEMPLATE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'For a provider with tenants whose metadata has `{tenantid}` in its issuer: that template. The issuer of an id_token is the template with its own `tid`.',
    }),
  ),
  TENANTS: Type.String({
    default: '',
    description:
      'With ISSUER_TEMPLATE: comma-separated ids (`tid`) of the tenants whose people may sign in. Danger: if it is empty, people of every tenant of the provider may.',
  }),
  CLIENT_ID: Type.String({ minLength: 1, description: 'Client ID registered with the provider.' }),
  CLIENT_SECRET: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      description:
        'Client secret, or several, comma-separated, for rotation without downtime. Not used with private_key_jwt and signed_secret.',
    }),
  ),
  SCOPES: Type.String({
    default: 'openid email profile',
    description: 'Scopes requested at sign-in, space-separated.',
  }),
  LABEL: Type.Optional(
    Type.String({ description: 'Label of the sign-in button. Default: the name.' }),
  ),
  CLIENT_AUTH: Type.Union(
    [
      Type.Literal('client_secret_post'),
      Type.Literal('client_secret_basic'),
      Type.Literal('private_key_jwt'),
      Type.Literal('signed_secret'),
    ],
    {
      default: 'client_secret_post',
      description:
        'Client authentication method: client_secret_post, client_secret_basic, private_key_jwt, or signed_secret for a client secret that is a token signed with PRIVATE_KEY (Apple).',
    },
  ),
  PRIVATE_KEY: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      description:
        'For private_key_jwt: a private JWK as JSON with kid and alg, or the path of a file with it. For signed_secret: a P-256 key in PEM (PKCS #8), or the path of a file with it.',
    }),
  ),
  KEY_ID: Type.Optional(
    Type.String({ minLength: 1, description: 'For signed_secret: id of PRIVATE_KEY.' }),
  ),
  TEAM_ID: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'For signed_secret: id of the team that owns PRIVATE_KEY, the issuer of the token.',
    }),
  ),
  PARAMS: Type.String({
    default: '',
    description:
      'Further parameters of the authorization request, as in a query: `hd=example.com&prompt=login`. Those of the flow itself, such as state, are refused.',
  }),
  OFFLINE_PARAMS: Type.String({
    default: '',
    description:
      'Further parameters of the authorization request if STORE_TOKENS is on, for a provider that has no scope offline_access.',
  }),
  RESPONSE_MODE: Type.Union([Type.Literal('query'), Type.Literal('form_post')], {
    default: 'query',
    description:
      'How the provider sends the browser back: query, or form_post for a form that is posted to BASE_URL/auth/callback.',
  }),
  AUDIENCES: Type.String({
    default: '',
    description:
      'Comma-separated further audiences that an id_token may name beside the client. Then `azp` must name the client.',
  }),
  REQUIRE: Type.String({
    default: '',
    description:
      'Comma-separated claim:value pairs: only people with these values may sign in, for instance `hd:example.com`. Several values of one claim are alternatives. `email` counts only if the provider has verified it. A claim that people, or the administrators of any tenant, can write is refused at start; the presets list what can be required. The claims of the id_token count, and those of userinfo if USERINFO is on.',
  }),
  ROLE_MAP: Type.String({
    default: '',
    description:
      'Comma-separated claim:value=role pairs, for instance `groups:staff=editor,groups:leads=admin`: a person who signs in with a value is a member of ROLE_TENANT with that role of the app (of several the one that the app lists last), and whoever has none any more is none. A role that an admin changes by hand stays. What can be required can be mapped (REQUIRE).',
  }),
  ROLE_TENANT: Type.Optional(
    Type.String({ description: 'The id of the tenant of ROLE_MAP.', minLength: 1 }),
  ),
  ID_TOKEN_ALG: Type.String({
    default: 'RS256',
    description: 'Comma-separated list of allowed id_token algorithms, asymmetric only.',
  }),
  TRUST_EMAIL: Type.String({
    default: 'false',
    description:
      '`true`, or the comma-separated domains whose email addresses are trusted if this provider has verified them. Danger: a person who controls such an address at the provider controls the account with that address here.',
  }),
  EMAIL_VERIFIED_CLAIM: Type.String({
    minLength: 1,
    default: 'email_verified',
    description: 'Claim that says whether the provider has verified the email address.',
  }),
  EMAIL_VERIFIED_TEXT: Type.Boolean({
    default: false,
    description: 'That claim may also be the text `true` or `1`, or the number 1.',
  }),
  LOGOUT_PARAM: Type.String({
    minLength: 1,
    default: 'post_logout_redirect_uri',
    description: 'Name of the parameter with the address to return to after the provider’s logout.',
  }),
  STORE_TOKENS: Type.Boolean({
    default: false,
    description:
      'Store access and refresh tokens, encrypted, for later calls to the provider’s API. If the scopes contain offline_access, sign-in asks for the consent it requires.',
  }),
  USERINFO: Type.Boolean({
    default: false,
    description:
      'Also call userinfo after the token exchange, for an email address or name missing in the id_token.',
  }),
})
