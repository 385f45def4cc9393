import { isDeepStrictEqual } from 'node:util'
import type { Principal } from '#src/access/caller.ts'
import {
  type Binding,
  type EncryptionKeys,
  seal,
  UnsealError,
  unseal,
} from '#src/crypto/encryption.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { Problem } from '#src/http/problems.ts'
import type { Tx } from './entry.ts'
import { Prisma } from './generated/client.ts'

/** A request with an Idempotency-Key, or a form. Keys of different people or services are different keys. */
export type KeyedRequest = {
  by: Pick<Principal, 'userId' | 'serviceId' | 'tenantId'>
  key: string
  /** Everything that the request asks for: method, path and body; nothing for a form, whose key has it. */
  asked: readonly unknown[]
}

/**
 * Runs `work` unless the same request was carried out within the last day; then it returns the result
 * of that time. The first time, too, the result is what JSON keeps of it, so both responses are made of
 * the same. Key and result are written in the transaction, so there is no result without its effect. Of
 * two requests at once the second waits for the first. A result that is no object (null, a reason for a
 * refusal) is not kept, so the request can be sent again. A large one is kept without what the request
 * itself contains. Results are encrypted, because some contain a secret that is shown once.
 * @param onReplayed called when the result is that of an earlier request
 * @throws Problem `idempotency-key-reused` if the key was used for another request,
 *   `too-many-requests` if the person or service has too many keys, or `conflict` if the result of the
 *   earlier request is not there any more or was too large to be kept
 */
export async function runOnce<T>(
  { sql }: Tx,
  request: KeyedRequest,
  keys: EncryptionKeys,
  work: () => Promise<T>,
  onReplayed = () => {},
): Promise<T> {
  const { by, key, asked } = request
  const keyHash = Buffer.from(sha256(key))
  const requestHash = Buffer.from(sha256(JSON.stringify([by.tenantId, ...asked])))
  const holder = idempotencyHolder(by)
  const [from, to] = partOf(keyHash)
  // DO UPDATE, unlike DO NOTHING, waits for the other transaction and returns its row. A key that is
  // older than a day is new.
  const [known] = await sql<{ requestHash: Uint8Array; result: Uint8Array | null }>`
    INSERT INTO idempotency_keys AS k (holder, key_hash, tenant_id, request_hash)
    SELECT ${holder}, ${keyHash}, ${by.tenantId}::uuid, ${requestHash}
    WHERE ${maxKeysOfPart} > (SELECT count(*) FROM (
      SELECT FROM idempotency_keys o
      WHERE o.holder = ${holder} AND o.key_hash BETWEEN ${from} AND ${to}
        AND o.key_hash <> ${keyHash} LIMIT ${maxKeysOfPart}) other)
    ON CONFLICT (holder, key_hash) DO UPDATE SET
      tenant_id = CASE WHEN ${isOld} THEN excluded.tenant_id ELSE k.tenant_id END,
      secret = CASE WHEN NOT ${isOld} THEN k.secret END,
      request_hash = CASE WHEN ${isOld} THEN excluded.request_hash ELSE k.request_hash END,
      result = CASE WHEN NOT ${isOld} THEN k.result END,
      created_at = CASE WHEN ${isOld} THEN excluded.created_at ELSE k.created_at END
    RETURNING request_hash AS "requestHash", result`
  if (known === undefined) {
    const detail = 'You have sent too many requests with a key within a day.'
    throw new Problem('too-many-requests', { detail, retryAfterSeconds: 60 })
  }
  if (!requestHash.equals(known.requestHash)) {
    throw new Problem('idempotency-key-reused')
  }
  const binding: Binding = ['idempotent-result', holder, keyHash.toString('hex')]
  if (known.result !== null) {
    const result = toResult<T>(open(keys, known.result, binding), asked)
    onReplayed()
    return result
  }
  const result = await work()
  if (typeof result !== 'object' || result === null) return result
  const whole = JSON.stringify(result)
  const kept = Buffer.byteLength(whole) > maxKeptBytes ? toKept(JSON.parse(whole), asked) : whole
  const sealed = Buffer.from(seal(keys, kept, binding))
  // A result may exceed the budget by a sixteenth (add_usage).
  await Promise.all([
    sql`SELECT put_setting('app.keeps', 'on')`,
    sql`UPDATE idempotency_keys SET result = ${sealed} WHERE holder = ${holder} AND key_hash = ${keyHash}`,
  ])
  return kept === tooLarge ? JSON.parse(whole) : toResult(kept, asked)
}

/** With `maxKeysOfPart`, a person's results are at most 256 MiB, a quarter of the default of QUOTA_RESOURCES. */
const maxKeptBytes = 16_384
const tooLarge = JSON.stringify([null])

/**
 * A large result as it is kept: without the fields that the request has too, and a list of their names.
 * An array, which no result is.
 */
function toKept(result: object, asked: KeyedRequest['asked']): string {
  const body = bodyOf(asked)
  const same = Object.entries(result).flatMap(([name, value]) =>
    Object.hasOwn(body, name) && isDeepStrictEqual(value, body[name]) ? [name] : [],
  )
  // Null keeps the place of a field, so that both responses have one order.
  const rest = { ...result, ...Object.fromEntries(same.map((name) => [name, null])) }
  const kept = JSON.stringify([rest, same])
  return Buffer.byteLength(kept) > maxKeptBytes ? tooLarge : kept
}

function toResult<T>(kept: string, asked: KeyedRequest['asked']): T {
  const stored = JSON.parse(kept)
  if (!Array.isArray(stored)) return stored
  const [rest, same] = stored as [T | null, readonly string[]]
  if (rest === null) {
    const detail =
      'The request was carried out, but its first response was too large to be kept. Read the object again.'
    throw new Problem('conflict', { detail })
  }
  const body = bodyOf(asked)
  return { ...rest, ...Object.fromEntries(same.map((name) => [name, body[name]])) }
}

/** The fields of the body; none of a form. */
function bodyOf([, , body]: KeyedRequest['asked']): Record<string, unknown> {
  return Object(body)
}

/**
 * Keys that a person or service has at most with the same first byte of the hash; each is deleted after a
 * day. So there are at most 16,384, about 10,000 before a part is full, and a request reads few of them.
 */
export const maxKeysOfPart = 64

/** The first and the last hash of the part of a hash. */
function partOf(keyHash: Buffer): readonly [Buffer, Buffer] {
  const [first = 0] = keyHash
  return [0x00, 0xff].map((rest) => {
    return Buffer.from(keyHash.map((_byte, index) => (index === 0 ? first : rest)))
  }) as [Buffer, Buffer]
}

/**
 * Who holds the keys of a request, as `current_idempotency_holder()` has it. The same key of an app is
 * another one in each of its tenants.
 */
export function idempotencyHolder({ userId, serviceId, tenantId }: KeyedRequest['by']): string {
  return serviceId === null ? `person ${userId}` : `service ${serviceId} ${tenantId}`
}

const isOld = Prisma.sql`(k.created_at < now() - interval '1 day')`

function open(keys: EncryptionKeys, sealed: Uint8Array, binding: Binding): string {
  try {
    return unseal(keys, sealed, binding)
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    // Its encryption key was removed: `gatehouse keys rotate` does not re-encrypt results, which live a day.
    const detail = 'The request was carried out, but its first response can no longer be read.'
    throw new Problem('conflict', { detail })
  }
}
