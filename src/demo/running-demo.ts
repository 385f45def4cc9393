import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { randomToken } from '#src/crypto/hash.ts'
import { newEndpointSecret } from '#src/webhooks/delivery/signature.ts'

/** The process and settings of a running demo, for the other commands in the same folder. */
export type RunningDemo = { pid: number; env: Record<string, string | undefined> }

const file = () => resolve('.data/running.json')

/** The demo that runs in this folder, or null. The file of a killed process is ignored. */
export async function findRunningDemo(): Promise<RunningDemo | null> {
  try {
    const running: RunningDemo = JSON.parse(await readFile(file(), 'utf8'))
    process.kill(running.pid, 0)
    return running
  } catch {
    return null
  }
}

/** Writes the file that `findRunningDemo` reads. Call the returned function to remove it. */
export async function announceDemo(
  env: Record<string, string | undefined>,
): Promise<() => Promise<void>> {
  const settings = Object.entries(env).filter(([name]) =>
    /^(DATABASE_|OIDC_|SESSION_|BILLING_|OUTBOUND_|(ENCRYPTION_KEYS|OPERATORS|BASE_URL|PORT|ADMIN_PORT)$)/.test(
      name,
    ),
  )
  const running: RunningDemo = { pid: process.pid, env: Object.fromEntries(settings) }
  await writeFile(file(), JSON.stringify(running), { mode: 0o600 })
  return () => rm(file(), { force: true })
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
