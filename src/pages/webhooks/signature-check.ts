import Type from 'typebox'
import { type Html, html, withCodeSpans } from '#src/pages/kit/html.ts'
import type { SignatureCheck } from '#src/webhooks/signing/check-signature.ts'

/** Any text without NUL, also none: a checked body may have every fault. */
const Pasted = (maxLength: number) => Type.String({ maxLength, pattern: '^[^\\u0000]*$' })

export const SignatureFields = Type.Object(
  { headers: Pasted(8_192), body: Pasted(65_536), secret: Pasted(256) },
  { additionalProperties: false },
)

/** What was pasted, without the secret, and what was found. */
export type CheckedSignature = { headers: string; body: string; result: SignatureCheck }

/** A form that says why a receiver refuses a request. @param checked null before it is sent */
export function signatureSection(deliveryId: string, checked: CheckedSignature | null): Html {
  return html`<section class="card" aria-labelledby="signature">
        <h2 id="signature">Signature checker</h2>
        ${checked === null ? '' : resultText(checked.result)}
        <details${checked === null ? '' : html` open`}>
          <summary>Check what your server received</summary>
          <form class="form" method="post" action="/app/deliveries/${deliveryId}/check#signature">
            <label>Headers as received <textarea name="headers" rows="4" maxlength="8192" required spellcheck="false" placeholder="webhook-id: msg_…&#10;webhook-timestamp: 1700000000&#10;webhook-signature: v1,…">${checked?.headers ?? ''}</textarea></label>
            <label>Body as received <textarea name="body" rows="4" maxlength="65536" spellcheck="false">${checked?.body ?? ''}</textarea></label>
            <label>Secret of your server (empty: that of the endpoint) <input type="password" name="secret" maxlength="256" autocomplete="off"></label>
            <p class="quiet small">The secret is used for this check only: it is neither stored nor logged.</p>
            <button class="button">Check the signature</button>
          </form>
        </details>
      </section>`
}

function resultText(result: SignatureCheck): Html {
  if (result.length === 0) {
    return html`<p class="notice" role="status">The signature is correct and its timestamp is recent. A receiver accepts this request.</p>`
  }
  const isOnlyTime = result.every(({ fault }) => fault === 'too-old' || fault === 'too-new')
  return html`<div class="notice fault" role="alert">
          ${isOnlyTime ? html`<p>The signature is correct.</p>` : ''}
          ${result.map(({ text }) => html`<p class="wrap">${withCodeSpans(text)}</p>`)}
        </div>`
}
