import t, { type Test } from 'tap'
import { testSettings } from '#dev/testing/settings.ts'
import { systemClock } from '#src/runtime/clock.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { startHostileProvider } from '#test/support/provider/hostile-provider.ts'
import { clientSecret, rsaKey } from '#test/support/provider/sign-in-journey.ts'
import {
  type Answer,
  askPatiently,
  type Instance,
  startInstance,
  untilAnnounced,
} from './instance.ts'

/*
 * Rotations of SESSION_SECRETS with two web processes that are restarted one after another, while
 * people sign in. No two requests of one sign-in go to the same process.
 */

const secrets: Record<string, string> = { old: 'o'.repeat(43), new: 'n'.repeat(43) }
const setting = (names: string) =>
  names
    .split(',')
    .map((name) => secrets[name])
    .join()

t.test('in the documented order every sign-in succeeds and nobody is signed out', async (t) => {
  const world = await setUp(t)
  await world.replaceAll('old')
  const early = await world.signIn()
  const load = world.startLoad()
  await load.more(10)
  for (const names of ['old,new', 'new,old']) {
    await world.replaceAll(names, async () => {
      await load.more(10)
      t.strictSame(await world.statusesOf(early), [200, 200], `halfway to ${names}`)
    })
    await load.more(10)
    await world.announced(2)
    const { status, output } = await world.run(['keys', 'status'], names)
    t.equal(status, 0, output)
    t.match(output, names === 'old,new' ? /\) first, / : /Remove [0-9a-f]{8} \(fingerprint\) when/)
  }
  const late = await world.signIn()
  await world.replaceAll('new', () => load.more(10))
  t.strictSame(await world.statusesOf(late), [200, 200])
  t.strictSame(
    await world.statusesOf(early),
    [401, 401],
    'which is why the last step waits for SESSION_ABSOLUTE_SECONDS',
  )
  await load.stop()
  t.strictSame(load.failures, [])
  t.comment(`${load.count()} sign-ins`)
})

t.test('in the wrong order it is said at once, and the missing step repairs it', async (t) => {
  const world = await setUp(t)
  await world.replaceAll('old')
  const early = await world.signIn()
  await world.announced(2)
  const wrong = await world.start('new')
  await wrong.says(/1 of 3 running processes lack the secret with fingerprint [0-9a-f]{8}/)
  const { status, output } = await world.run(['keys', 'status'], 'old')
  t.equal(status, 1, output)
  t.match(output, /Next step for SESSION_SECRETS \(NOT SAFE\): .*: add it to their SESSION_SECRETS/)

  const refused = await askPatiently(wrong, { path: '/me', headers: { cookie: early } })
  t.equal(refused.status, 401)
  t.equal(refused.headers['set-cookie'], undefined, 'the browser keeps its cookie')
  world.instances.push(wrong)
  await world.replaceAll('old,new')
  t.strictSame(await world.statusesOf(early), [200, 200])
})

async function setUp(t: Test) {
  const database = await createDatabase(t)
  const op = await startHostileProvider({
    clock: systemClock,
    keys: [rsaKey],
    secret: clientSecret,
  })
  t.teardown(() => op.close())
  const settings = {
    ROLE: 'web',
    DRAIN_SECONDS: '0',
    OIDC_DEMO_ISSUER: op.issuer,
    OIDC_DEMO_CLIENT_SECRET: clientSecret,
  }
  const instances: Instance[] = []
  /** For each request that has no response yet, its process. */
  const underWay: Instance[] = []
  let turn = 0

  /** Resolves once the process has opened a connection to the database and knows the provider. */
  async function start(names: string): Promise<Instance> {
    const more = { ...settings, SESSION_SECRETS: setting(names) }
    const instance = await startInstance(t, database, more)
    await askPatiently(instance, { path: '/auth/login?provider=demo' })
    return instance
  }

  async function stop(instance: Instance): Promise<void> {
    instances.splice(instances.indexOf(instance), 1)
    await untilTrue(() => !underWay.includes(instance))
    instance.child.kill('SIGTERM')
    await instance.ended
  }

  /** Sends the request to the next process. */
  async function send(path: string, cookie: string): Promise<Answer> {
    turn += 1
    const instance = instances[turn % instances.length]
    if (instance === undefined) throw new Error('no process runs')
    underWay.push(instance)
    try {
      return await askPatiently(instance, { path, headers: { cookie } })
    } finally {
      underWay.splice(underWay.indexOf(instance), 1)
    }
  }

  /** @returns the session cookie of a new session, which two processes have accepted */
  async function signIn(): Promise<string> {
    const begun = await send('/auth/login?provider=demo', '')
    const parameters = op.approve(new URL(String(begun.headers.location)))
    const done = await send(`/auth/callback?${parameters}`, cookieOf(begun))
    if (done.status !== 302) throw new Error(`callback: ${done.status} ${done.body.slice(0, 300)}`)
    const cookie = cookieOf(done)
    for (const _ of [1, 2]) {
      const { status } = await send('/me', cookie)
      if (status !== 200) throw new Error(`/me after the sign-in: ${status}`)
    }
    return cookie
  }

  return {
    instances,
    start,
    signIn,
    announced: (count: number) => untilAnnounced(database, count),
    /** Replaces one process after another by two new ones. */
    async replaceAll(names: string, halfway: () => Promise<void> = async () => {}) {
      const old = [...instances]
      for (const index of [0, 1]) {
        instances.push(await start(names))
        const replaced = old[index]
        if (replaced !== undefined) await stop(replaced)
        if (index === 0) await halfway()
      }
      await Promise.all(old.slice(2).map(stop))
    },
    statusesOf: (cookie: string) =>
      Promise.all(
        instances.map(async (instance) => {
          const { status } = await askPatiently(instance, { path: '/me', headers: { cookie } })
          return status
        }),
      ),
    async run(args: string[], names: string) {
      const env = { ...testSettings(database), SESSION_SECRETS: setting(names) }
      const program = await runProgram(t, args, env)
      return { status: await program.ended, output: program.output() }
    },
    startLoad() {
      const failures: string[] = []
      let count = 0
      let isStopping = false
      const running = (async () => {
        while (!isStopping) {
          // A person keeps a hundred sessions, so others sign in each time.
          op.fault = { claims: { sub: `person ${count}`, email: undefined } }
          await signIn().catch((error) => failures.push(String(error)))
          count += 1
        }
      })()
      const stop = async () => {
        isStopping = true
        await running
      }
      t.teardown(stop)
      return {
        failures,
        stop,
        count: () => count,
        /** Resolves after so many more sign-ins. */
        async more(wanted: number) {
          const until = count + wanted
          await untilTrue(() => count >= until)
        },
      }
    },
  }
}

function cookieOf({ headers }: Answer): string {
  const lines = [headers['set-cookie']].flat().map(String)
  return lines.find((line) => line.startsWith('sid='))?.split(';', 1)[0] ?? ''
}
