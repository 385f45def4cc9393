import { type Html, html } from '#src/pages/html.ts'
import type { EndpointFacts } from '#src/webhooks/endpoints/endpoints.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'

/** The form as it stands: what was typed where it came back, and why it did. */
export type EndpointDraft = EndpointFacts & { urlFault: string | null }

const profiles = {
  spec: 'spec: signs time and body',
  standard: 'standard: as Standard Webhooks, for its libraries',
  both: 'both, one after the other',
} as const

type Button = { action: string; label: string }

/** The fields of an endpoint, to register one or to change it. */
export function endpointForm(draft: EndpointDraft, { action, label }: Button): Html {
  const { url, description, signature, urlFault } = draft
  return html`<form class="form" method="post" action="${action}">
          <label>URL <input type="url" name="url" required maxlength="2048" autocomplete="off" placeholder="https://" value="${url}"${
            urlFault === null
              ? ''
              : html` aria-invalid="true" aria-describedby="url-fault" autofocus`
          }></label>
          ${urlFault === null ? '' : html`<p class="fault" id="url-fault">${urlFault}</p>`}
          <label>Description (optional) <input name="description" maxlength="500" autocomplete="off" value="${description ?? ''}"></label>
          <fieldset><legend>Only these kinds of events (none ticked: all, and those to come)</legend>
            <div class="boxes">${kindBoxes(draft.eventTypes ?? [])}</div>
          </fieldset>
          <label>Signature <select name="signature">${profileOptions(signature)}</select></label>
          <button class="button">${label}</button>
        </form>`
}

/** The kind of the test button is offered only where it was chosen through the API. */
function kindBoxes(chosen: readonly string[]): readonly Html[] {
  return eventTypes
    .filter((kind) => kind !== 'endpoint.test' || chosen.includes(kind))
    .map((kind) => {
      const checked = chosen.includes(kind) ? html` checked` : ''
      return html`<label class="box"><input type="checkbox" name="eventTypes" value="${kind}"${checked}> ${kind}</label>`
    })
}

function profileOptions(chosen: EndpointFacts['signature']): readonly Html[] {
  return Object.entries(profiles).map(
    ([profile, words]) =>
      html`<option value="${profile}"${profile === chosen ? html` selected` : ''}>${words}</option>`,
  )
}
