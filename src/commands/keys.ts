import { ConfigError } from '#src/config.ts'
import type { EncryptionKeys } from '#src/crypto/sealed.ts'
import { type IdentityPlane, openIdentityPlane } from '#src/db/identity-plane.ts'
import { findKeyUse, rotateKeys } from '#src/db/key-rotation.ts'
import { readEncryptionKeys } from '#src/encryption-settings.ts'
import { OperatorError } from '#src/operator-error.ts'
import { sealedTables } from '#src/sealed-tables.ts'
import { type Environment, readDatabaseUrl } from '#src/setting-readers.ts'
import { withEnvironment } from './environment.ts'
import { readJsonFlag } from './json-flag.ts'
import { createProgress } from './progress.ts'

const usage = 'Say: keys status, or keys rotate.'

type Keyring = { plane: IdentityPlane; keys: EncryptionKeys }

/** `gatehouse keys status [--json] | rotate`: what is encrypted under which key, and bringing it up. */
export default async function keysCommand(
  env: Environment,
  [action = '', ...rest]: readonly string[],
): Promise<void> {
  const run = chooseAction(action, rest)
  await withEnvironment(env, async (whole) => {
    const { url, keys } = readSettings(whole)
    const plane = openIdentityPlane(url, 1)
    await run({ plane, keys }).finally(() => plane.close())
  })
}

function chooseAction(action: string, rest: readonly string[]): (ring: Keyring) => Promise<void> {
  if (action === 'status') {
    const json = readJsonFlag(rest, usage)
    return (ring) => status(ring, json)
  }
  if (action === 'rotate' && rest.length === 0) return rotate
  throw new OperatorError('A word is missing or unknown.', usage)
}

/** As the worker: it may change sealed texts and nothing else of those rows. */
function readSettings(env: Environment): { url: string; keys: EncryptionKeys } {
  const faults: string[] = []
  const setting = env.DATABASE_WORKER_URL ? 'DATABASE_WORKER_URL' : 'DATABASE_URL'
  const url = readDatabaseUrl(setting, env[setting] || undefined, faults)
  const keys = readEncryptionKeys(env.ENCRYPTION_KEYS?.trim(), faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return { url, keys }
}

type KeyState = 'current' | 'to be rotated' | 'missing'

async function status({ plane, keys }: Keyring, json: boolean): Promise<void> {
  const known = keys.map(({ id }) => id)
  const [current = '', ...older] = known
  const stateOf = (keyId: string): KeyState => {
    if (keyId === current) return 'current'
    return known.includes(keyId) ? 'to be rotated' : 'missing'
  }
  const found = await findKeyUse(plane, sealedTables)
  const uses = found.map((use) => ({ ...use, state: stateOf(use.keyId) }))
  const idle = older.filter((id) => !uses.some(({ keyId }) => keyId === id))
  if (uses.some(({ state }) => state === 'missing')) process.exitCode = 1
  const text = json
    ? JSON.stringify({ current, uses, idle }, null, 2)
    : inWords(current, uses, idle)
  process.stdout.write(`${text}\n`)
}

type Use = { table: string; column: string; keyId: string; count: number; state: KeyState }

function inWords(current: string, uses: readonly Use[], idle: readonly string[]): string {
  const notes = { current: '', 'to be rotated': ', to be rotated', missing: ', KEY MISSING' }
  const lines = uses.map(
    ({ table, column, keyId, count, state }) =>
      `${table}.${column}: ${count} under ${keyId}${notes[state]}`,
  )
  const unneeded = idle.length > 0 ? [`No longer needed: ${idle.join(', ')}`] : []
  return [`New texts are encrypted under ${current}.`, ...lines, ...unneeded].join('\n')
}

async function rotate({ plane, keys }: Keyring): Promise<void> {
  const show = createProgress(process.stdout)
  const { reencrypted, unreadable } = await rotateKeys(plane, sealedTables, keys, (progress) =>
    show({ label: progress.table, done: progress.done, total: progress.total }),
  )
  process.stdout.write(`${reencrypted} rows re-encrypted under ${keys[0].id}.\n`)
  if (unreadable.length === 0) return
  process.stdout.write(`${unreadable.length} rows cannot be opened with the configured keys:\n`)
  for (const row of unreadable) process.stdout.write(`  ${row}\n`)
  process.exitCode = 1
}
