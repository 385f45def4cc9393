import Type from 'typebox'
import type { OwnerScope } from '#src/access/caller.ts'
import {
  type Binding,
  type EncryptionKeys,
  seal,
  UnsealError,
  unseal,
} from '#src/crypto/encryption.ts'
import { randomId, sha256 } from '#src/crypto/hash.ts'
import type { Database } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import type { Queryable } from '#src/db/system-database.ts'
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

/** A form as it was sent: its path and its fields, `submission` among them. */
type SentForm = { url: string; body: unknown }

/** A secret to show once, and what the page says about it. */
export type ShownSecret = { readonly secret: string; readonly note: string | null }

/**
 * Where the result of a form is shown: a path with an optional query, and a secret to show there with
 * the keys to encrypt it.
 */
type Result = {
  readonly path: string
  readonly secret?: ShownSecret & { readonly keys: EncryptionKeys }
}

/**
 * Carries out a form unless the same form was carried out before, in the transaction of
 * `connection`. A form that was changed, or rendered again, is another form. Of two at once the
 * second waits for the first.
 * @param work null if nothing was done: sent again, the form is carried out
 * @returns where to redirect to; null if `work` returned null
 */
export async function submitOnce(
  connection: Queryable,
  owner: OwnerScope,
  form: SentForm,
  work: () => Promise<Result>,
): Promise<string>
export async function submitOnce(
  connection: Queryable,
  owner: OwnerScope,
  form: SentForm,
  work: () => Promise<Result | null>,
): Promise<string | null>
export async function submitOnce(
  connection: Queryable,
  { userId }: OwnerScope,
  form: SentForm,
  work: () => Promise<Result | null>,
): Promise<string | null> {
  const hash = hashOf(form)
  // DO UPDATE, unlike DO NOTHING, waits for the other transaction and returns its row.
  const [claimed] = await connection.sql<{ location: string | null }>`
      INSERT INTO form_submissions AS s (user_id, form_hash) VALUES (${userId}, ${hash})
      ON CONFLICT (user_id, form_hash) DO UPDATE SET location = s.location
      RETURNING s.location`
  if (typeof claimed?.location === 'string') return claimed.location
  const result = await work()
  if (result === null) return null
  const { path, secret } = result
  const location = secret === undefined ? path : withShown(path, hash)
  const sealed = secret === undefined ? null : close(secret, bindingOf(userId, hash))
  await connection.sql`
      UPDATE form_submissions SET location = ${location}, secret = ${sealed}
      WHERE user_id = ${userId} AND form_hash = ${hash}`
  return location
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
  entry: Entry<OwnerScope>,
  { method, query: { shown } }: PageRequest,
  keys: EncryptionKeys,
): Promise<ShownSecret | 'gone' | null> {
  if (shown === undefined || method === 'HEAD') return null
  const hash = Buffer.from(shown, 'base64url')
  return db.write(entry, async (tx, { userId }) => {
    const [taken] = await tx.sql<{ secret: Uint8Array }>`
      WITH kept AS (
        SELECT secret FROM form_submissions
        WHERE user_id = ${userId} AND form_hash = ${hash} AND secret IS NOT NULL
          AND created_at > now() - interval '5 minutes'
        FOR UPDATE
      )
      UPDATE form_submissions SET secret = NULL FROM kept
      WHERE user_id = ${userId} AND form_hash = ${hash} RETURNING kept.secret`
    return taken === undefined ? 'gone' : open(keys, taken.secret, bindingOf(userId, hash))
  })
}

function close(
  { keys, secret, note }: NonNullable<Result['secret']>,
  binding: Binding,
): Buffer<ArrayBuffer> {
  const shown: ShownSecret = { secret, note }
  return Buffer.from(seal(keys, JSON.stringify(shown), binding))
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

function hashOf({ url, body }: SentForm): Buffer<ArrayBuffer> {
  return Buffer.from(sha256(JSON.stringify([url, body])))
}

function bindingOf(userId: number, hash: Uint8Array): Binding {
  return ['form-secret', String(userId), Buffer.from(hash).toString('hex')]
}

function withShown(path: string, hash: Buffer): string {
  return `${path}${path.includes('?') ? '&' : '?'}shown=${hash.toString('base64url')}`
}
