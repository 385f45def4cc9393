import type { Answer, Media, Operation, Schema } from '#src/http/openapi/examples.ts'
import { assetPath } from '#src/pages/kit/asset-path.ts'
import { badge, pageHead } from '#src/pages/kit/components.ts'
import { fieldsOf, fieldTable, typeText } from '#src/pages/kit/fields.ts'
import { type Html, html, withCodeSpans } from '#src/pages/kit/html.ts'
import type { Page } from '#src/pages/kit/layout.ts'
import { docsLayout } from './frame.ts'
import type { Entry, Group } from './operations.ts'
import { needsSession, sampleList, samplesOf, takesToken } from './samples.ts'
import { tokenField, tryForm } from './try-it.ts'

/** The operations of one group: what each takes and returns, samples, and a form that sends it. */
export function groupPage(groups: readonly Group[], group: Group, baseUrl: string): Page {
  const { title, href, entries } = group
  const canTry = entries.some(isTried)
  return docsLayout(groups, {
    title,
    current: href,
    main: html`${pageHead({ title })}
      <nav class="card contents" aria-label="Operations">${entries.map(contentsLine)}</nav>
      ${canTry ? tokenField() : ''}
      ${entries.map((entry) => operationSection(entry, baseUrl))}`,
    ...(canTry && { head: html`<script src="${assetPath('try-it.js')}" defer></script>` }),
  })
}

function contentsLine({ method, path, operation }: Entry): Html {
  const { operationId = '', summary = '' } = operation
  return html`<a href="#${operationId}"><code class="method">${method}</code> <code class="path">${path}</code><span>${summary}</span></a>`
}

/** Callbacks of the sign-in and signed webhooks are sent by others, never by a reader. */
function isTried({ operation }: Entry): boolean {
  return takesToken(operation) || needsSession(operation)
}

function operationSection(entry: Entry, baseUrl: string): Html {
  const { path, method, operation } = entry
  const { operationId = '', summary = '', description, parameters = [], requestBody } = operation
  const rows = parameters.map((parameter) => ({
    name: parameter.name,
    type: `${typeText(parameter.schema)}, in the ${parameter.in}`,
    required: parameter.required === true,
    note: parameter.description ?? '',
  }))
  return html`<section class="card operation" aria-labelledby="${operationId}">
        <div>
          <h2 id="${operationId}">${summary}</h2>
          <p><code class="method">${method}</code> <code class="path">${path}</code></p>
          ${description === undefined ? '' : paragraphs(description)}
          ${securityText(operation)}
          ${rows.length === 0 ? '' : html`<h3>Parameters</h3>${fieldTable(rows)}`}
          ${requestBody === undefined ? '' : html`<h3>Body</h3>${bodyFields(requestBody.content)}`}
          <h3>Responses</h3>
          ${responseList(operation)}
        </div>
        <div class="samples">
          ${samples(entry, baseUrl)}
          ${isTried(entry) ? tryForm(entry) : ''}
        </div>
      </section>`
}

function samples(entry: Entry, baseUrl: string): Html {
  const { operationId = '', responses } = entry.operation
  const codes = sampleList(operationId, samplesOf(entry, baseUrl))
  const [status, answer] = Object.entries(responses).find(([one]) => Number(one) < 300) ?? []
  const media = answer !== undefined && 'content' in answer ? answer.content : undefined
  const example = media?.['application/json']?.example
  if (status === undefined || example === undefined) return codes
  return html`${codes}
          <h3>Response ${badge(status, 'good')}</h3>
          <pre class="example" tabindex="0" aria-label="Response ${status}">${JSON.stringify(example, null, 2)}</pre>`
}

function securityText(operation: Operation): Html | string {
  if (operation.security === undefined) return ''
  const text = takesToken(operation)
    ? 'Requires an API token, or a session.'
    : needsSession(operation)
      ? 'Requires a session. An API token is not enough.'
      : 'No authentication.'
  return html`<p class="quiet">${text}</p>`
}

function bodyFields(media: Readonly<Record<string, Media>>): Html {
  const parts = Object.entries(media).map(([type, { schema }]) => {
    const rows = fieldsOf(schema)
    return html`${type === 'application/json' ? '' : html`<p class="quiet small-gap"><code>${type}</code></p>`}
          ${rows.length === 0 ? html`<p>${typeText(schema)}</p>` : fieldTable(rows)}`
  })
  return html`${parts}`
}

/** Successful responses with their fields; errors on one line, because they all have the same body. */
function responseList({ responses }: Operation): Html {
  const all = Object.entries(responses).flatMap(([status, answer]) =>
    'content' in answer || 'description' in answer ? [{ status, answer }] : [],
  )
  const good = all.filter(({ status }) => Number(status) < 400)
  const errors = all.filter(({ status }) => Number(status) >= 400)
  return html`<ul class="plain answers">${good.map(
    ({ status, answer }) =>
      html`<li><b>${status}</b> ${answer.description}${responseFields(answer)}</li>`,
  )}<li class="errors">${errors.map(({ status, answer }) => errorLinks(status, answer))}</li></ul>`
}

function responseFields({ content = {} }: Answer): Html {
  const rows = fieldsOf(content['application/json']?.schema ?? {})
  if (rows.length === 0) return html``
  return html`<details><summary>Fields</summary>${fieldTable(rows)}</details>`
}

function errorLinks(status: string, { content = {}, description }: Answer): Html {
  const types = Object.values(content).flatMap(({ schema }) => typesOf(schema))
  if (types.length === 0) return html`<span><b>${status}</b> ${description}</span> `
  return html`<span><b>${status}</b>${types.map((type) => html` <a href="${type}">${type.replace('/docs/errors/', '')}</a>`)}</span> `
}

/** The values of `type` of a problem. */
function typesOf({ properties, allOf = [], oneOf = [] }: Schema): string[] {
  const type = properties?.type?.const
  return [...(typeof type === 'string' ? [type] : []), ...[...allOf, ...oneOf].flatMap(typesOf)]
}

function paragraphs(text: string): Html {
  return html`${text.split('\n\n').map((one) => html`<p>${withCodeSpans(one)}</p>`)}`
}
