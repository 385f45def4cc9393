import { type EncryptionKeys, seal, unseal } from '#src/crypto/encryption.ts'
import { parseJsonObject } from '#src/runtime/json.ts'

/** What a person entered into a form that was refused. */
export type FormDraft = {
  /** Path that the form is posted to. */
  action: string
  /** Name and value of each field, as submitted. */
  fields: readonly (readonly [string, string])[]
  /**
   * Id of the person the form was rendered for, who alone may see the draft. Null in the portal, where a
   * draft is shown only in the answer to the form.
   */
  sender: number | null
  /** Why it was refused; null if for its fields, or if its sender only had to sign in. */
  reason: string | null
  /** Name of each refused field, and why: `must not be empty`. */
  faults: readonly (readonly [string, string])[]
}

/** A draft that waits for the page with the form. */
export type KeptDraft = FormDraft & { readonly page: string }

/** The hidden field that says for whom a form was rendered. */
export const senderField = 'sender'

export const draftCookie = 'draft'
/** Seconds that a draft is kept: as long as a pending sign-in. */
export const draftSeconds = 600
// Browsers keep cookies of up to 4096 bytes with name and attributes.
const maxCookieLength = 3_800
const binding = ['form-draft'] as const

/**
 * Encrypts a draft for a cookie of the browser that it was entered in.
 * @param now Unix seconds
 * @returns null if it is too long for a cookie
 */
export function sealDraft(keys: EncryptionKeys, draft: KeptDraft, now: number): string | null {
  const text = JSON.stringify({ ...draft, until: now + draftSeconds })
  const sealed = seal(keys, text, binding).toString('base64url')
  return sealed.length > maxCookieLength ? null : sealed
}

/** @returns null if the cookie is expired or not one of ours */
export function unsealDraft(keys: EncryptionKeys, cookie: string, now: number): KeptDraft | null {
  let text: string
  try {
    text = unseal(keys, Buffer.from(cookie, 'base64url'), binding)
  } catch {
    return null
  }
  // `sealDraft` wrote it, so its shape is known.
  const draft = parseJsonObject(text) as (KeptDraft & { until: number }) | null
  return draft !== null && draft.until > now ? draft : null
}
