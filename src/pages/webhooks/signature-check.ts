import Type from 'typebox'
import { area, folded, formOf, line, renderForm } from '#src/pages/kit/form.ts'
import { type Html, html, withCodeSpans } from '#src/pages/kit/html.ts'
import { baseOf, type Viewer } from '#src/pages/kit/layout.ts'
import type { SignatureCheck } from '#src/webhooks/signing/check-signature.ts'

/** Any text without NUL, also none: a checked body may have every fault. */
const Pasted = (maxLength: number) => Type.String({ maxLength, pattern: '^[^\\u0000]*$' })

export const signatureForm = formOf({
  headers: area(Pasted(8_192), 'Headers as received', {
    required: true,
    attributes: {
      ...{ rows: 4, spellcheck: 'false' },
      placeholder: 'webhook-id: msg_…\nwebhook-timestamp: 1700000000\nwebhook-signature: v1,…',
    },
  }),
  body: area(Pasted(65_536), 'Body as received', { attributes: { rows: 4, spellcheck: 'false' } }),
  secret: line(Pasted(256), 'Secret of your server (empty: that of the endpoint)', {
    attributes: { type: 'password' },
  }),
})

/** What was pasted, without the secret, and what was found. */
export type CheckedSignature = { headers: string; body: string; result: SignatureCheck }

/** A form that says why a receiver refuses a request. @param checked null before it is sent */
export function signatureSection(
  deliveryId: string,
  checked: CheckedSignature | null,
  viewer: Viewer,
): Html {
  const form = renderForm(
    signatureForm,
    {
      ...{ viewer, action: `${baseOf(viewer)}/deliveries/${deliveryId}/check#signature` },
      values: { headers: checked?.headers, body: checked?.body },
    },
    ({ headers, body, secret }) => html`${headers}${body}${secret}
            <p class="quiet small">The secret is used for this check only: it is neither stored nor logged.</p>
            <button class="button">Check the signature</button>`,
  )
  return html`<section class="card" aria-labelledby="signature">
        <h2 id="signature">Signature checker</h2>
        ${checked === null ? '' : resultText(checked.result)}
        ${folded('Check what your server received', { ...form, isRefilled: form.isRefilled || checked !== null })}
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
