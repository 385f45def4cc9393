import { identityKeyOf } from '#src/auth/forward-auth/identity-token.ts'
import { encryptedTokenColumns } from '#src/auth/provider-tokens/store.ts'
import { ConfigError } from '#src/config/config.ts'
import { type Environment, readDatabaseUrl, readEncryptionKeys } from '#src/config/parse.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import {
  type EncryptedColumns,
  findKeyUse,
  listScopeKeys,
  rotateKeys,
  rotateScopeKey,
  type ScopeKey,
} from '#src/operations/key-rotation.ts'
import { findKeyFaults, listSeenKeys, type SeenKeys } from '#src/operations/running-processes.ts'
import { encryptedSecretColumns } from '#src/webhooks/signing/secrets.ts'
import { openCommandDatabase } from '../kit/databases.ts'
import { withEnvironment } from '../kit/environment.ts'
import { createProgress, print, printJson } from '../kit/output.ts'
import { type NextStep, nextEncryptionStep, nextSessionStep } from './rotation.ts'

type Keyring = { systemDb: SystemDatabase; keys: EncryptionKeys }
type Options = { readonly json?: true }

/**
 * `gatehouse keys status`: how many values each key encrypts, the keys of the scope's seal and of
 * identity tokens, and the next step of a rotation. Fails if a key is missing or processes cannot read what others write.
 */
export function showStatus(env: Environment, { json }: Options): Promise<void> {
  return withKeyring(env, (ring) => status(ring, json === true))
}

/** `gatehouse keys rotate`: a new key for the scope's seal, then re-encrypts with the first key. */
export function rotate(env: Environment, { json }: Options): Promise<void> {
  return withKeyring(env, (ring) => reencrypt(ring, json === true))
}

function withKeyring(env: Environment, work: (ring: Keyring) => Promise<void>): Promise<void> {
  return withEnvironment(env, async (whole) => {
    const { url, keys } = readSettings(whole)
    const systemDb = openCommandDatabase(url)
    await work({ systemDb, keys }).finally(() => systemDb.close())
  })
}

/** The worker's role alone may call the functions for keys; DATABASE_URL may name the same role. */
function readSettings(env: Environment): { url: string; keys: EncryptionKeys } {
  const faults: string[] = []
  const setting = env.DATABASE_WORKER_URL ? 'DATABASE_WORKER_URL' : 'DATABASE_URL'
  const url = readDatabaseUrl(setting, env[setting] || undefined, faults)
  const keys = readEncryptionKeys(env.ENCRYPTION_KEYS?.trim(), faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return { url, keys }
}

type KeyState = 'current' | 'to be rotated' | 'missing'

async function status({ systemDb, keys }: Keyring, json: boolean): Promise<void> {
  const known = keys.map(({ id }) => id)
  const [current = '', ...older] = known
  const stateOf = (keyId: string): KeyState => {
    if (keyId === current) return 'current'
    return known.includes(keyId) ? 'to be rotated' : 'missing'
  }
  const found = await findKeyUse(systemDb, encryptedColumns)
  const uses = found.map((use) => ({ ...use, state: stateOf(use.keyId) }))
  const signingKeys = keys.map((key) => ({ from: key.id, kid: identityKeyOf(key).jwk.kid }))
  const idle = older.filter((id) => !uses.some(({ keyId }) => keyId === id))
  const scopeKeys = await listScopeKeys(systemDb)
  const seen = await listSeenKeys(systemDb)
  const inUse = new Set(uses.filter(({ count }) => count > 0).map(({ keyId }) => keyId))
  const steps = [nextEncryptionStep(known, inUse, seen), nextSessionStep(seen) ?? []].flat()
  const isMissing = uses.some(({ state }) => state === 'missing')
  if (isMissing || findKeyFaults(seen).length > 0) process.exitCode = 1
  const processes = seen.filter(({ running }) => running > 0)
  if (json) return printJson({ current, uses, idle, scopeKeys, signingKeys, processes, steps })
  const lines = [
    ...report(current, uses, idle),
    ...scopeKeyReport(scopeKeys),
    ...signingKeyReport(signingKeys),
    ...processReport(processes),
    ...stepReport(steps),
  ]
  print(lines.join('\n'))
}

function processReport(processes: readonly SeenKeys[]): string[] {
  return processes.map(({ running, role, encryptionKeys, sessionSecrets }) => {
    const secrets = sessionSecrets.length > 0 ? `, session secrets ${sessionSecrets.join()}` : ''
    return `Running: ${running} with role ${role}, encryption keys ${encryptionKeys.join()}${secrets}`
  })
}

function stepReport(steps: readonly NextStep[]): string[] {
  return steps.map(
    ({ setting, next, safe }) => `Next step for ${setting}${safe ? '' : ' (NOT SAFE)'}: ${next}`,
  )
}

type Use = { table: string; column: string; keyId: string; count: number; state: KeyState }

function report(current: string, uses: readonly Use[], idle: readonly string[]): string[] {
  const notes = { current: '', 'to be rotated': ', to be rotated', missing: ', KEY MISSING' }
  const lines = uses.map(
    ({ table, column, keyId, count, state }) =>
      `${table}.${column}: ${count} with ${keyId}${notes[state]}`,
  )
  const unneeded = idle.length > 0 ? [`No longer needed: ${idle.join(', ')}`] : []
  return [`New values are encrypted with ${current}.`, ...lines, ...unneeded]
}

function scopeKeyReport(keys: readonly ScopeKey[]): string[] {
  return keys.map(({ id, createdAt }, index) => {
    const use = index === 0 ? 'seals new transactions' : 'valid for open transactions'
    return `Scope key ${id}, created ${createdAt.toISOString()}: ${use}`
  })
}

type SigningKey = { from: string; kid: string }

function signingKeyReport(keys: readonly SigningKey[]): string[] {
  return keys.map(({ from, kid }, index) => {
    const use = index === 0 ? 'signs identity tokens' : 'published'
    return `Identity key ${kid}, derived from ${from}: ${use}`
  })
}

async function reencrypt({ systemDb, keys }: Keyring, json: boolean): Promise<void> {
  // First, because a scope key that has leaked must not wait for a long re-encryption.
  const scopeKey = await rotateScopeKey(systemDb)
  const show = createProgress(process.stderr)
  const { reencrypted, unreadable } = await rotateKeys(
    systemDb,
    encryptedColumns,
    keys,
    (progress) => show({ label: progress.table, done: progress.done, total: progress.total }),
  )
  if (unreadable.length > 0) process.exitCode = 1
  if (json) return printJson({ current: keys[0].id, reencrypted, unreadable, scopeKey })
  print(`${reencrypted} rows re-encrypted with ${keys[0].id}. Scope key ${scopeKey} created.`)
  if (unreadable.length === 0) return
  print(`${unreadable.length} rows cannot be decrypted with the configured keys:`)
  for (const row of unreadable) print(`  ${row}`)
}

/** Every column encrypted with `ENCRYPTION_KEYS`, for `gatehouse keys` and `gatehouse doctor`. */
export const encryptedColumns: readonly EncryptedColumns[] = [
  ...encryptedTokenColumns,
  encryptedSecretColumns,
]
