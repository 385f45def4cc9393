import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { signIn, type TestUser } from '#dev/testing/people.ts'
import { readConfig } from '#src/config/config.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { startPgbouncer } from '#test/support/database/pgbouncer.ts'
import { withinMs } from '#test/support/database/until.ts'
import { addresses, type Program, runProgram } from '#test/support/processes/program.ts'
import { type Installation, prepareInstallation } from './installation.ts'

export type Headers = Record<string, string>

export type Instances = Installation & {
  database: TestDatabase
  /** The web processes and their own addresses. */
  webs: readonly Program[]
  workers: readonly Program[]
  origins: readonly [string, string]
  /** The cookie of a new session, as in a request behind the load balancer. */
  newSession(user: TestUser): Promise<Headers>
  /**
   * Sends a request to a web process directly, with the headers of the load balancer; again if a busy
   * machine has refused it: 503 with Retry-After.
   */
  ask(web: 0 | 1, path: string, request?: RequestInit & { headers?: Headers }): Promise<Response>
}

// For four processes, fewer than the default.
const serverConnections = 8

/**
 * A whole production installation: two web and two worker processes on one database, behind the load
 * balancer, with the demo's users.
 * @param settings override the production settings
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
  // Starting four at once would exceed the connection timeout.
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
    async ask(web, path, request) {
      const url = `${web === 0 ? one : two}${path}`
      const headers = { 'x-forwarded-proto': 'https', ...request?.headers }
      for (const end = performance.now() + withinMs; ; ) {
        const answer = await fetch(url, { redirect: 'manual', ...request, headers })
        const seconds = answer.headers.get('retry-after')
        if (answer.status !== 503 || seconds === null || performance.now() > end) return answer
        await answer.text()
        await wait(Number(seconds) * 1_000)
      }
    },
  }
}

/** Resolves once both listen, at least on the admin port. */
async function startTwo(t: Test, args: string[], env: Record<string, string>): Promise<Program[]> {
  const programs = await Promise.all([runProgram(t, args, env), runProgram(t, args, env)])
  await Promise.all(programs.map((program) => program.says(/"msg":"started"/)))
  return programs
}
