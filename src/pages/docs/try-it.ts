import type { Parameter } from '#src/http/openapi/examples.ts'
import { type Html, html } from '#src/pages/kit/html.ts'
import type { Entry } from './operations.ts'

/** The token for every request of the page. It is kept nowhere. */
export function tokenField(): Html {
  return html`<section class="card try" aria-labelledby="credential">
        <h2 id="credential">Try it</h2>
        <label class="field">API token <input type="password" id="token" autocomplete="off" spellcheck="false" placeholder="gth_…"></label>
        <p class="quiet">Requests of this page are sent with this token, which is not stored. Without one they are sent with the session of this browser.</p>
      </section>`
}

/** A form that sends a request of the operation. Only a script can, so it is hidden without one. */
export function tryForm({ path, method, operation }: Entry): Html {
  const { summary = '', parameters = [], requestBody } = operation
  const body = requestBody?.content['application/json']?.example
  return html`<details class="try">
            <summary>Try it<span class="unseen">: ${summary}</span></summary>
            <form class="form" data-method="${method}" data-path="${path}">
              ${parameters.map(parameterField)}
              ${body === undefined ? '' : html`<label>Body <textarea name="body" rows="${Math.min(14, JSON.stringify(body, null, 2).split('\n').length)}" spellcheck="false">${JSON.stringify(body, null, 2)}</textarea></label>`}
              ${method === 'GET' ? '' : html`<label class="box"><input type="checkbox" required> <span>This request changes data of this installation</span></label>`}
              <button class="button slim">Send the request</button>
            </form>
            <div role="status" aria-label="Response"></div>
          </details>`
}

function parameterField({ name, in: place, required, schema, example }: Parameter): Html {
  const needed = required === true ? html` required` : html``
  const label = html`<span><code>${name}</code>${required === true ? '' : html` <span class="quiet">optional</span>`}</span>`
  if (schema.enum !== undefined) {
    return html`<label>${label} <select name="${name}" data-in="${place}"${needed}>${required === true ? '' : html`<option value=""></option>`}${schema.enum.map((one) => html`<option>${String(one)}</option>`)}</select></label>`
  }
  const hint = example === undefined ? html`` : html` placeholder="${String(example)}"`
  return html`<label>${label} <input name="${name}" data-in="${place}" autocomplete="off"${hint}${needed}></label>`
}
