import { spawnSync } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { randomToken } from '#src/crypto/hash.ts'
import { newEndpointSecret } from '#src/webhooks/delivery/signature.ts'

/** The process and settings of a running demo, for the other commands in the same folder. */
export type RunningDemo = {
  pid: number
  /** Start of the process, which tells it from a later one with the same id. */
  startedAt: string
  /** What the demo added to its environment, and its addresses. */
  env: Environment
}

type Environment = Record<string, string | undefined>

const file = () => resolve('.data/running.json')

/** The demo that runs in this folder, or null. The file of a process that has ended is ignored. */
export async function findRunningDemo(): Promise<RunningDemo | null> {
  try {
    const running: RunningDemo = JSON.parse(await readFile(file(), 'utf8'))
    return (await startOf(running.pid)) === running.startedAt ? running : null
  } catch {
    return null
  }
}

/**
 * The environment of a command that runs beside a demo. Whoever configures a part gets no setting of
 * the demo's part.
 */
export function withDemoSettings(running: RunningDemo, env: Readonly<Environment>): Environment {
  const replaced = partSettings.filter(({ name }) => env[name] !== undefined)
  const added = Object.entries(running.env).filter(
    ([name]) => !replaced.some(({ settings }) => settings.test(name)),
  )
  return { ...Object.fromEntries(added), ...env }
}

const partSettings = [
  { name: 'DATABASE_URL', settings: /^DATABASE_/ },
  { name: 'OIDC_PROVIDERS', settings: /^(OIDC_|OPERATORS$)/ },
]
const addresses = ['BASE_URL', 'PORT', 'ADMIN_PORT']

/**
 * Writes the file that `findRunningDemo` reads. Configured settings are not copied to it. Call the
 * returned function to remove it.
 */
export async function announceDemo(
  given: Readonly<Environment>,
  env: Environment,
): Promise<() => Promise<void>> {
  const added = Object.entries(env).filter(
    ([name, value]) => given[name] !== value || addresses.includes(name),
  )
  const { pid } = process
  const startedAt = String(await startOf(pid))
  const running: RunningDemo = { pid, startedAt, env: Object.fromEntries(added) }
  await writeFile(file(), JSON.stringify(running), { mode: 0o600 })
  return () => rm(file(), { force: true })
}

/**
 * When a process started. Its id alone does not name it: another process may have it later, in a
 * container often this one itself.
 * @returns null if there is no such process
 */
async function startOf(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    // The command, field 2, may contain spaces and parentheses; the start is field 22.
    return status.slice(status.lastIndexOf(')') + 2).split(' ')[19] ?? null
  }
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() || null
}

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
