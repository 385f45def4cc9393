import type { Test } from 'tap'
import { readConfig } from '#src/config/config.ts'
import { createDatabase, signIn, type TestDatabase, type TestUser } from '#test/support/helper.ts'
import { startPgbouncer } from '#test/support/pgbouncer.ts'
import { addresses, type Program, runProgram } from '#test/support/program.ts'
import { type Installation, prepareInstallation } from './installation.ts'

export type Headers = Record<string, string>

export type Instances = Installation & {
  database: TestDatabase
  /** The web processes, and where each listens itself. */
  webs: readonly Program[]
  workers: readonly Program[]
  origins: readonly [string, string]
  /** The cookie of a new session, as a request behind the balancer carries it. */
  newSession(user: TestUser): Promise<Headers>
  /** Asks each web process by itself; as the balancer would, it says that TLS was ended. */
  ask(web: 0 | 1, path: string, request?: RequestInit & { headers?: Headers }): Promise<Response>
}

// Of four processes, fewer than they would open by themselves.
const serverConnections = 8

/**
 * A production in full: two web and two worker processes on one database, behind the balancer,
 * with the demo's people in it.
 * @param settings over those of a production
 */
export async function startInstances(
  t: Test,
  { pooled, ...settings }: { pooled: boolean; REDIS_URL?: string },
): Promise<Instances> {
  const database = await createDatabase(t)
  const pooler = pooled ? await startPgbouncer(t, database.url, serverConnections) : null
  const installation = await prepareInstallation(t, {
    ...database,
    ...(pooler && {
      url: pooler.through(database.url),
      workerUrl: pooler.through(database.workerUrl),
    }),
  })
  await installation.furnish()
  const env = { ...installation.env, ...settings }
  // Four at once would take longer than a connection to the database may.
  const webs = await startTwo(t, ['serve'], { ...env, ROLE: 'web' })
  const workers = await startTwo(t, ['worker'], env)
  const [one = '', two = ''] = await Promise.all(
    webs.map(async (web) => (await addresses(web)).address),
  )
  await installation.leadTo([one, two])
  const config = readConfig(env)
  return {
    ...installation,
    env,
    database,
    webs,
    workers,
    origins: [one, two],
    async newSession(user) {
      const { cookie } = await signIn({ config, database }, user)
      return { cookie }
    },
    ask: (web, path, request) =>
      fetch(`${web === 0 ? one : two}${path}`, {
        redirect: 'manual',
        ...request,
        headers: { 'x-forwarded-proto': 'https', ...request?.headers },
      }),
  }
}

/** Resolves once both listen, be it for the administrator alone. */
async function startTwo(t: Test, args: string[], env: Record<string, string>): Promise<Program[]> {
  const programs = await Promise.all([runProgram(t, args, env), runProgram(t, args, env)])
  await Promise.all(programs.map((program) => program.says(/listening at http/)))
  return programs
}
