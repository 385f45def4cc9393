import { type Html, html } from '#src/pages/html.ts'
import { timeText } from '#src/pages/time.ts'

/** What can have been done, each with its sentence. */
export const notices = {
  changed: 'Saved. What is under way goes to the new URL from its next attempt.',
  enabled: 'Enabled. New events are sent again; replay what was missed.',
  removed: 'The endpoint is removed, with its deliveries.',
  tested: 'A test event was sent; its answer is below.',
  replayed: 'On its way again, with attempts of its own.',
} as const
export type WebhookNotice = keyof typeof notices

export type NewSecret = { secret: string; endpointId: string; url: string; note: Html | string }

/** A signing secret, this once. */
export function newSecretSection({ secret, endpointId, url, note }: NewSecret): Html {
  return html`<section class="card notice" aria-labelledby="new-secret">
        <h2 id="new-secret">The signing secret of your endpoint</h2>
        <p class="wrap"><a href="/app/webhooks/${endpointId}">${url}</a></p>
        <p>Copy it now: it is kept sealed and cannot be shown again. ${note}</p>
        <pre class="secret" tabindex="0" aria-label="Signing secret"><code>${secret}</code></pre>
      </section>`
}

/** How long the secret before goes on to sign. */
export function overlapSentence(expiresAt: string | null): Html {
  if (expiresAt === null) return html`The old one signs no more.`
  return html`Until ${timeText(expiresAt)} every delivery is signed with the old one too.`
}
