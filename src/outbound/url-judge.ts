import type { HostCheck } from '#src/webhooks/client/dns.ts'
import { attemptError } from '#src/webhooks/client/errors.ts'
import { readEndpointUrl } from '#src/webhooks/client/url.ts'

/** The URL in the form to keep, or why it is refused, for the operator alone. */
export type JudgedUrl = { url: string } | { refused: string }

/**
 * The whole guard before anything is sent: form, then name. A name that cannot be resolved is
 * refused as one that leads inside, or the difference would tell what our name servers know.
 */
export function createUrlJudge(allow: readonly string[], checkHost: HostCheck) {
  return async function judgeUrl(text: string): Promise<JudgedUrl> {
    const read = readEndpointUrl(text, allow)
    if ('refused' in read) return read
    try {
      await checkHost(read.url)
      return { url: read.url.href }
    } catch (error) {
      const { code, message } = attemptError(error)
      return { refused: `${code}: ${message}` }
    }
  }
}
