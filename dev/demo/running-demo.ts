import { spawnSync } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Customer, RunningDemo } from '#src/commands/kit/development.ts'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { randomToken } from '#src/crypto/hash.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { newEndpointSecret } from '#src/webhooks/signing/signature.ts'

type Settings = Readonly<Record<string, string | undefined>>

/** `started` tells the process from a later one with the same id. */
type Announcement = RunningDemo & { started: string }

const file = () => resolve('.data/running.json')

/** The demo that runs in this folder, or null. The file of a process that has ended is ignored. */
export async function findRunningDemo(): Promise<RunningDemo | null> {
  const announced = await readAnnouncement()
  if (announced === null) return null
  const { started, ...running } = announced
  return started !== '' && started === (await startOf(running.pid)) ? running : null
}

/**
 * Writes the file that `findRunningDemo` reads. Call the returned function to remove it.
 * @param env the settings of embedded parts; configured secrets are not written
 */
export async function announceDemo(
  env: Settings,
  customer: Customer | null,
): Promise<() => Promise<void>> {
  const { pid } = process
  const announcement: Announcement = { pid, started: await startOf(pid), env, customer }
  await writeFile(file(), JSON.stringify(announcement), { mode: 0o600 })
  return async () => {
    // Another demo has replaced the file if both were started at the same moment.
    if ((await readAnnouncement())?.pid === pid) await rm(file(), { force: true })
  }
}

async function readAnnouncement(): Promise<Announcement | null> {
  try {
    return JSON.parse(await readFile(file(), 'utf8'))
  } catch {
    return null
  }
}

/**
 * When a process started, as a text that no other process with the same id has: ids are used again,
 * after a reboot or in the next container. Empty if there is no such process.
 */
async function startOf(pid: number): Promise<string> {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
    return stdout.trim()
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return ''
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
  // proc(5): field 2 is a name in parentheses that may contain spaces; field 22 is the start in
  // clock ticks since this boot.
  const [, ...fromThird] = stat.slice(stat.lastIndexOf(')')).split(' ')
  return `${boot.trim()} ${fromThird[19]}`
}

/**
 * The given settings, completed with those of a running demo. A configured database or provider is
 * used alone, without settings of the embedded one.
 */
export function withDemoSettings(given: Settings, { env }: RunningDemo): Settings {
  const ofParts = Object.entries(env).filter(
    ([name]) =>
      !(given.DATABASE_URL !== undefined && ofDatabase.test(name)) &&
      !(given.OIDC_PROVIDERS !== undefined && ofProvider.test(name)),
  )
  return { ...Object.fromEntries(ofParts), ...given }
}

/**
 * What `gatehouse demo` shows: the running demo with the whole environment, and which parts are embedded.
 * @throws OperatorError if none runs in this folder
 */
export async function describeDemo(given: Settings) {
  const running = await findRunningDemo()
  if (running === null) {
    throw new OperatorError('No demo runs in this folder.', 'Start it with `npm start`.')
  }
  const { env } = running
  const embedded = { database: 'DATABASE_URL' in env, provider: 'OIDC_PROVIDERS' in env }
  return { ...running, embedded, env: withDemoSettings(given, running) }
}

const ofDatabase = /^(DATABASE_|BILLING_API_|OUTBOUND_ALLOW$)/
const ofProvider = /^(OIDC_|OPERATORS$)/

const names = [
  'session',
  'billing',
  'client',
  'owner',
  'app',
  'worker',
  'encryption',
  'endpoint',
  'token',
] as const

export type Secrets = Record<(typeof names)[number], string>

/**
 * The demo's random secrets. They are generated once and kept in `folder`, readable by this user
 * only. Secrets that are missing in the file of an older version are added.
 */
export async function readSecrets(folder: string): Promise<Secrets> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'secrets.json')
  const kept = await readKept(file)
  const secrets: Secrets = { ...makeSecrets(), ...kept }
  if (names.some((name) => kept[name] === undefined)) {
    await writeFile(file, JSON.stringify(secrets, null, 2), { mode: 0o600 })
  }
  return secrets
}

async function readKept(file: string): Promise<Partial<Secrets>> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new OperatorError(
        `${file} is damaged: ${error.message}.`,
        'Delete the folder .data, and with it the data of the demo, to start over.',
      )
    }
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    return {}
  }
}

function makeSecrets(): Secrets {
  return {
    session: randomToken(),
    billing: `whsec_${randomToken()}`,
    client: randomToken(),
    owner: randomToken(),
    app: randomToken(),
    worker: randomToken(),
    encryption: `demo:${randomToken()}`,
    endpoint: newEndpointSecret(),
    token: randomApiToken(),
  }
}
