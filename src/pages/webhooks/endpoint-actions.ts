import { type Html, html } from '#src/pages/html.ts'
import type { Endpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { type EndpointDraft, endpointForm } from './forms.ts'

/** Everything one does to an endpoint but replay; what is seldom wanted is folded away. */
export function endpointActions(
  { id, status }: Pick<Endpoint, 'id' | 'status'>,
  draft: EndpointDraft,
): Html {
  const path = `/app/webhooks/${id}`
  return html`<section class="card" aria-labelledby="actions">
        <h2 id="actions">Work on it</h2>
        <div class="row">
          ${status === 'active' ? '' : html`<form method="post" action="${path}/enable"><button class="button">Enable it</button></form>`}
          <form method="post" action="${path}/test"><button class="button${status === 'active' ? '' : ' plain'}">Send a test</button></form>
        </div>
        <p class="quiet small">A test is sent at once, also to a disabled endpoint, and counts neither for it nor against it.</p>
        <details${draft.urlFault === null ? '' : html` open`}>
          <summary>Change it</summary>
          ${endpointForm(draft, { action: path, label: 'Save the changes' })}
        </details>
        <details>
          <summary>Rotate the secret</summary>
          <form class="form" method="post" action="${path}/rotate">
            <label>The old secret signs too for
              <select name="overlapSeconds">
                <option value="0">no longer: it stops at once</option>
                <option value="3600">an hour</option>
                <option value="86400" selected>a day</option>
                <option value="604800">a week</option>
              </select>
            </label>
            <button class="button">Make a new secret</button>
          </form>
        </details>
        <details>
          <summary>Remove it</summary>
          <form class="form" method="post" action="${path}/remove">
            <label class="box"><input type="checkbox" name="confirm" value="yes" required> Yes, remove it with all its deliveries; nothing more is sent to it</label>
            <button class="button danger">Remove the endpoint</button>
          </form>
        </details>
      </section>`
}
