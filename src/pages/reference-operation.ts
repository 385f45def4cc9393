import type { Answer, Media, Operation, Reference } from '#src/api/description.ts'
import { type Html, html } from './html.ts'
import { type FieldRow, fieldsOf, typeText } from './reference-schema.ts'

const schemes: Readonly<Record<string, string>> = { session: 'a session', token: 'an API token' }

/** One operation, folded; opened it says who may, what goes in and what comes out. */
export function operationEntry(
  path: string,
  method: string,
  operation: Operation,
  resolve: (answer: Answer | Reference) => Answer,
): Html {
  const { operationId = '', summary = '', description, parameters = [], requestBody } = operation
  const rows = parameters.map((parameter) => ({
    name: parameter.name,
    type: `${typeText(parameter.schema)}, in the ${parameter.in}`,
    required: parameter.required === true,
    note: parameter.description ?? '',
  }))
  return html`<details id="${operationId}" class="operation">
          <summary><code class="method">${method.toUpperCase()}</code> <code class="path">${path}</code> <span class="quiet">${summary}</span></summary>
          ${description === undefined ? '' : paragraphs(description)}
          ${securityText(operation)}
          ${rows.length === 0 ? '' : html`<h3>Parameters</h3>${fieldTable(rows)}`}
          ${requestBody === undefined ? '' : html`<h3>Body</h3>${content(requestBody.content)}`}
          <h3>Answers</h3>
          ${answers(operation, resolve)}
        </details>`
}

function securityText({ security }: Operation): Html | string {
  if (security === undefined) return ''
  const ways = security.flatMap((one) => Object.keys(one)).map((name) => schemes[name] ?? name)
  return html`<p class="quiet">${ways.length === 0 ? 'Needs neither session nor token.' : `Needs ${ways.join(' or ')}.`}</p>`
}

/** What is asked for in full, refusals in a line each: their body is the same everywhere. */
function answers({ responses }: Operation, resolve: (answer: Answer | Reference) => Answer): Html {
  const all = Object.entries(responses).map(([status, answer]) => ({
    status,
    answer: resolve(answer),
  }))
  return html`<ul class="plain answers">${all.map(
    ({ status, answer }) =>
      html`<li><b>${status}</b> ${answer.description}${Number(status) < 400 && answer.content ? content(answer.content) : ''}</li>`,
  )}</ul>`
}

function content(media: Readonly<Record<string, Media>>): Html {
  const parts = Object.entries(media).map(([type, { schema, example }]) => {
    const rows = '$ref' in schema ? [] : fieldsOf(schema)
    return html`<p class="quiet small-gap"><code>${type}</code>${rows.length === 0 && !('$ref' in schema) ? `: ${typeText(schema)}` : ''}</p>
          ${rows.length === 0 ? '' : fieldTable(rows)}
          ${rows.length === 0 ? '' : html`<pre class="example" tabindex="0" aria-label="Example">${JSON.stringify(example, null, 2)}</pre>`}`
  })
  return html`${parts}`
}

function fieldTable(rows: readonly FieldRow[]): Html {
  return html`<div class="scroll"><table class="fields">
          <thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
          <tbody>${rows.map(
            ({ name, type, required, note }) => html`<tr>
            <td><code>${name}</code>${required ? '' : html` <span class="quiet">optional</span>`}</td>
            <td>${type}</td>
            <td class="quiet">${marked(note)}</td>
          </tr>`,
          )}</tbody>
        </table></div>`
}

function paragraphs(text: string): Html {
  return html`${text.split('\n\n').map((one) => html`<p>${marked(one)}</p>`)}`
}

/** Descriptions are CommonMark; of that ours have code spans only. */
function marked(text: string): Html {
  const parts = text.split('`').map((part, index) => {
    return index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`
  })
  return html`${parts}`
}
