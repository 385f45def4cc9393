import { ConfigError } from '#src/config.ts'
import type { EncryptionKeys } from '#src/crypto/sealed.ts'
import { type IdentityPlane, openIdentityPlane } from '#src/db/identity-plane.ts'
import { findKeyUse, rotateKeys } from '#src/db/key-rotation.ts'
import { readEncryptionKeys } from '#src/encryption-settings.ts'
import { OperatorError } from '#src/operator-error.ts'
import { sealedTables } from '#src/sealed-tables.ts'
import { type Environment, readDatabaseUrl } from '#src/setting-readers.ts'
import { withEnvironment } from './environment.ts'
import { createProgress } from './progress.ts'

type Keyring = { plane: IdentityPlane; keys: EncryptionKeys }

/** `gatehouse keys status|rotate`: what is encrypted under which key, and bringing it up. */
export default async function keysCommand(
  env: Environment,
  [action = '', ...rest]: readonly string[],
): Promise<void> {
  const run = action === 'status' ? status : action === 'rotate' ? rotate : null
  if (run === null || rest.length > 0) {
    throw new OperatorError('A word is missing or unknown.', 'Say: keys status, or keys rotate.')
  }
  await withEnvironment(env, async (whole) => {
    const { url, keys } = readSettings(whole)
    const plane = openIdentityPlane(url, 1)
    await run({ plane, keys }).finally(() => plane.close())
  })
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

async function status({ plane, keys }: Keyring): Promise<void> {
  const uses = await findKeyUse(plane, sealedTables)
  const known = keys.map(({ id }) => id)
  const [current = ''] = known
  process.stdout.write(`New texts are encrypted under ${current}.\n`)
  for (const { table, column, keyId, count } of uses) {
    const note =
      keyId === current ? '' : known.includes(keyId) ? ', to be rotated' : ', KEY MISSING'
    process.stdout.write(`${table}.${column}: ${count} under ${keyId}${note}\n`)
  }
  const inUse = uses.map(({ keyId }) => keyId)
  const idle = known.slice(1).filter((id) => !inUse.includes(id))
  if (idle.length > 0) process.stdout.write(`No longer needed: ${idle.join(', ')}\n`)
  if (inUse.some((id) => !known.includes(id))) process.exitCode = 1
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
