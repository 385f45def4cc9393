import Type from 'typebox'
import type { Submitter } from '#src/access/caller.ts'
import {
  type Binding,
  type EncryptionKeys,
  seal,
  UnsealError,
  unseal,
} from '#src/crypto/encryption.ts'
import { randomId, sha256 } from '#src/crypto/hash.ts'
import type { Database, Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { idempotencyHolder, type KeyedRequest, runOnce } from '#src/db/idempotency.ts'
import { Uuid } from '#src/http/schemas.ts'
import { type Html, html } from './html.ts'

/** The field of `submissionField`, for the schemas of forms. */
export const submissionFields = { submission: Uuid }

/** A form of nothing but `submissionField`. */
export const SubmissionForm = Type.Object(submissionFields, { additionalProperties: false })

/** The query parameter of a page that shows a secret once. */
export const shownQuery = { shown: Type.Optional(Type.String({ pattern: '^[\\w-]{43}$' })) }

/** A random id in each rendered form: the same id twice is the same form submitted twice. */
export function submissionField(): Html {
  return html`<input type="hidden" name="submission" value="${randomId()}">`
}

/** A secret to show once, and what the page says about it. */
export type ShownSecret = { readonly secret: string; readonly note: string | null }

/** Where the result of a form is shown: a path with an optional query, and a secret to show there. */
export type FormResult = { readonly path: string; readonly secret?: ShownSecret }

/**
 * Carries out a form unless the same form was carried out before (`runOnce`). A form that was changed, or
 * rendered again, is another form.
 * @param form as it was sent: its path and its fields, `submission` among them
 * @param work null if nothing was done: sent again, the form is carried out
 * @returns where to redirect to; null if `work` returned null
 */
export async function submitOnce<Result extends FormResult | null>(
  tx: Tx,
  submitter: Submitter,
  form: { url: string; body: unknown },
  keys: EncryptionKeys,
  work: () => Promise<Result>,
): Promise<string | Extract<Result, null>> {
  // With a space, which no Idempotency-Key of a header has.
  const key = `form ${JSON.stringify([form.url, form.body])}`
  const by = holderOf(submitter)
  const done = await runOnce(tx, { by, key, asked: [] }, keys, async () => {
    const result = await work()
    if (result?.secret === undefined) return result
    const hash = Buffer.from(sha256(key))
    const binding = bindingOf(submitter, hash)
    const secret = Buffer.from(seal(keys, JSON.stringify(result.secret), binding))
    await tx.sql`UPDATE idempotency_keys SET secret = ${secret} WHERE ${isOwn(submitter, hash)}`
    return { path: withShown(result.path, hash) }
  })
  return done === null ? (done as Extract<Result, null>) : done.path
}

/** A request for a page with `shownQuery`. */
type PageRequest = { readonly method: string; readonly query: { readonly shown?: string } }

/**
 * The secret of a page that `submitOnce` redirected to. It is returned once, to the person who
 * submitted the form and within five minutes; after that it is `gone`.
 * @returns null if the request is for a page without a secret, or shows no page (HEAD)
 */
export async function takeSecret(
  db: Database,
  entry: Entry<Submitter>,
  { method, query: { shown } }: PageRequest,
  keys: EncryptionKeys,
): Promise<ShownSecret | 'gone' | null> {
  if (shown === undefined || method === 'HEAD') return null
  const hash = Buffer.from(shown, 'base64url')
  return db.write(entry, async (tx, submitter) => {
    const own = isOwn(submitter, hash)
    const [taken] = await tx.sql<{ secret: Uint8Array }>`
      WITH kept AS (
        SELECT secret FROM idempotency_keys
        WHERE ${own} AND secret IS NOT NULL AND created_at > now() - interval '5 minutes'
        FOR UPDATE
      )
      UPDATE idempotency_keys SET secret = NULL FROM kept WHERE ${own} RETURNING kept.secret`
    return taken === undefined ? 'gone' : open(keys, taken.secret, bindingOf(submitter, hash))
  })
}

/** Who holds the keys of forms. Those of a person are of no tenant, since a form may change the tenant. */
function holderOf({ userId, portalSessionId, tenantId }: Submitter): KeyedRequest['by'] {
  if (portalSessionId === undefined) return { userId, serviceId: null, tenantId: null }
  return { userId, serviceId: portalSessionId, tenantId }
}

/** The condition for the key of a form, as `runOnce` keeps it. */
function isOwn(submitter: Submitter, hash: Buffer): Prisma.Sql {
  return Prisma.sql`holder = ${idempotencyHolder(holderOf(submitter))} AND key_hash = ${hash}`
}

function open(keys: EncryptionKeys, sealed: Uint8Array, binding: Binding): ShownSecret | 'gone' {
  try {
    return JSON.parse(unseal(keys, sealed, binding))
  } catch (error) {
    // Its key was removed: `gatehouse keys rotate` skips what lives five minutes.
    if (error instanceof UnsealError) return 'gone'
    throw error
  }
}

function bindingOf({ userId, portalSessionId }: Submitter, hash: Uint8Array): Binding {
  return ['form-secret', portalSessionId ?? String(userId), Buffer.from(hash).toString('hex')]
}

function withShown(path: string, hash: Buffer): string {
  return `${path}${path.includes('?') ? '&' : '?'}shown=${hash.toString('base64url')}`
}
