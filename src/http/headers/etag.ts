import { sha256 } from '#src/crypto/hash.ts'

/** The strong tag of a representation (RFC 9110, 8.8.3): other bytes have another tag. */
export function tagOf(body: string | Buffer): string {
  return `"${Buffer.from(sha256(body)).subarray(0, 16).toString('base64url')}"`
}

/** Whether an `If-Match` header names the tag: compared strongly (RFC 9110, 13.1.1). */
export function isMatched(header: string, tag: string): boolean {
  return wantedTags(header)?.includes(tag) ?? true
}

/** The tags of an `If-Match` header; null without one, or if any tag matches. */
export function wantedTags(header: string | undefined): readonly string[] | null {
  const tags = tagsOf(header ?? '*')
  return tags.includes('*') ? null : tags
}

/** Whether an `If-None-Match` header names the tag: compared weakly (RFC 9110, 13.1.2). */
export function isKnown(header: string | undefined, tag: string): boolean {
  return tagsOf(header ?? '').some((one) => one === '*' || one.replace(/^W\//, '') === tag)
}

function tagsOf(header: string): string[] {
  return header.split(',').map((tag) => tag.trim())
}
