import { type Command, declare } from './command.ts'

const json = { type: 'boolean', summary: 'the same for a script' } as const
const failed = 'failed'

/**
 * Every command of the program. What one needs is loaded when it runs: help, and the health check
 * of a container, wait for nothing else.
 */
export const commands: Readonly<Record<string, Command>> = {
  serve: declare({
    summary: 'Serve requests; with ROLE=all (the default) also work on jobs',
    details: `Listens on HOST:PORT, and on ADMIN_HOST:ADMIN_PORT for health and metrics. Never migrates: it
refuses a database that is behind, or a role that could get around row-level security.
Outside production whatever is not set is embedded: a database in .data/, a local provider.
SIGTERM and SIGINT (Ctrl-C) stop it in order, a second one at once.`,
    failure: 'it could not start, or had to be stopped by force, 130 stopped by SIGINT',
    run: async (env) => (await import('./serve.ts')).default(env),
  }),
  worker: declare({
    summary: 'Work on jobs only',
    details: 'The same as `serve` with ROLE=worker; only the admin listener is opened.',
    failure: 'it could not start, or had to be stopped by force, 130 stopped by SIGINT',
    run: async (env) => (await import('./serve.ts')).default({ ...env, ROLE: 'worker' }),
  }),
  migrate: declare({
    summary: 'Bring the database up and give the application roles their rights',
    details: `Needs DATABASE_OWNER_URL and DATABASE_URL (and DATABASE_WORKER_URL, if jobs have a role of
their own). Creates a missing role with its URL's password. Run it again as often as you like; two
at once take turns.`,
    failure: failed,
    options: { json },
    run: async (env, { options }) => (await import('./migrate.ts')).default(env, options),
  }),
  seed: declare({
    summary: "Add the demo's people and their data",
    details: 'Needs DATABASE_OWNER_URL. Data that is there already is left alone.',
    failure: failed,
    options: { json },
    run: async (env, { options }) => (await import('./seed.ts')).default(env, options),
  }),
  doctor: declare({
    summary: 'Check every setting, the database, the providers and the queue',
    details: 'Says what is wrong and what mends it. Changes nothing.',
    failure: 'something is wrong',
    options: { json },
    run: async (env, { options }) => (await import('./doctor.ts')).default(env, options),
  }),
  health: declare({
    summary: 'Ask the process that runs here whether it is ready',
    details: `Asks ADMIN_HOST:ADMIN_PORT/readyz and nothing else; made for the health check of a container.`,
    failure: 'it is not',
    options: { json },
    run: async (env, { options }) => (await import('./health.ts')).default(env, options),
  }),
  'keys status': declare({
    summary: 'Say what is encrypted under which key',
    details: `Needs ENCRYPTION_KEYS and DATABASE_WORKER_URL (or DATABASE_URL). Shows key ids, never keys.`,
    failure: 'a key is missing',
    options: { json },
    run: async (env, { options }) => (await import('./keys.ts')).showStatus(env, options),
  }),
  'keys rotate': declare({
    summary: 'Re-encrypt everything under the first key',
    details: `Works in batches. It can be broken off, run again, and run beside a running server.
To rotate: put the new key first in ENCRYPTION_KEYS, restart every process, run keys rotate, and
drop the old key when keys status says that it is no longer needed.
Needs ENCRYPTION_KEYS and DATABASE_WORKER_URL (or DATABASE_URL).`,
    failure: 'rows could not be opened with the configured keys',
    options: { json },
    run: async (env, { options }) => (await import('./keys.ts')).rotate(env, options),
  }),
  trigger: declare({
    summary: 'Sign a sample billing event and post it to a running instance',
    details: `TYPE is for instance charge.succeeded, subscription.created or subscription.updated. Without --url
it goes to the demo running in this checkout, else to BASE_URL. Signed with the first of
BILLING_WEBHOOK_SECRETS. Post the same --id twice to see a duplicate.`,
    failure: 'the answer was not 200',
    words: { usage: 'TYPE', least: 1, most: 1 },
    options: {
      customer: { type: 'string', value: 'ID', default: 'cus_ada', summary: 'billing customer' },
      amount: { type: 'string', value: 'N', default: '4900', summary: 'amount in minor units' },
      currency: { type: 'string', value: 'CODE', default: 'eur', summary: 'of the amount' },
      status: { type: 'string', value: 'STATE', default: 'active', summary: 'of a subscription' },
      id: { type: 'string', value: 'EVENT_ID', summary: 'event id; a random one without' },
      url: { type: 'string', value: 'URL', summary: 'where to; an origin gets the webhook’s path' },
      json,
    },
    run: async (env, { options, words }) =>
      (await import('./trigger.ts')).default(env, words[0] ?? '', options),
  }),
  'billing replay': declare({
    summary: 'Run received billing events again, by state and time or by id',
    details: `With event ids these, else those of a state and a time of receipt. Times are RFC 3339. Shows how
far it has come; stopping the command does not stop the replay, which is the workers' business.`,
    failure: 'an event failed again',
    words: { usage: '[EVENT_ID…]', least: 0, most: Number.POSITIVE_INFINITY },
    options: {
      status: { type: 'string', value: 'STATE', summary: 'state of the events; dead without' },
      from: { type: 'string', value: 'TIME', summary: 'received then or later' },
      to: { type: 'string', value: 'TIME', summary: 'received before' },
      json,
    },
    run: async (env, { options, words }) =>
      (await import('./billing.ts')).default(env, words, options),
  }),
  openapi: declare({
    summary: 'Print the description of the HTTP API (OpenAPI 3.1, JSON)',
    details: `The same as GET /openapi.json of a running server. Needs no database and no setting; BASE_URL is
named in it as the server's address.`,
    failure: failed,
    run: async (env) => (await import('./openapi.ts')).default(env),
  }),
}
