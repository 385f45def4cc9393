import { inlineSchemas } from '#src/http/openapi/components.ts'
import {
  type Answer,
  type ApiDescription,
  alternativesOf,
  answerOf,
  type Media,
  type Operation,
  type Reference,
  type Schema,
} from '#src/http/openapi/examples.ts'
import { pageHead } from '#src/pages/kit/components.ts'
import { type Html, html, withCodeSpans } from '#src/pages/kit/html.ts'
import { layout, type Page } from '#src/pages/kit/layout.ts'

/** Order of the tags; other tags follow. */
const order = ['sign-in', 'account', 'users', 'orders', 'posts', 'documents', 'folders', 'teams']

type Entry = { path: string; method: string; operation: Operation }

/** The API description as a page without scripts. */
export function referencePage(described: ApiDescription): Page {
  const description = inlineSchemas(described)
  const groups = groupByTag(description)
  return layout(
    'API reference',
    html`${pageHead({ title: 'API reference', lead: html`${description.info.title} ${description.info.version}. OpenAPI document: <a href="/openapi.json">openapi.json</a>.` })}
      ${basicsSection()}
      <nav class="card topics" aria-label="Topics">${groups.map(([tag]) => html`<a href="#${anchorOf(tag)}">${tag}</a>`)}</nav>
      ${groups.map(([tag, entries]) => tagSection(description, tag, entries))}`,
  )
}

function basicsSection(): Html {
  return html`<section class="card" aria-labelledby="basics">
        <h2 id="basics">Basics</h2>
        <ul class="plain">
          <li>Authenticate with the session cookie <code>sid</code>, or with an API token from your account page: <code>Authorization: Bearer gth_…</code>.</li>
          <li>Bodies are JSON. Unknown fields and unknown query parameters are rejected with 400.</li>
          <li>Lists take <code>?limit=1…100&amp;cursor=</code> and return <code>{data, nextCursor}</code>; <code>nextCursor</code> is null on the last page. The <code>Link</code> header (RFC 8288) has the URLs of the first, the next and the previous page. A cursor is valid for the list, filters and sort order that it came from.</li>
          <li>Errors are <code>application/problem+json</code> (RFC 9457): <code>type</code>, <code>title</code>, <code>status</code>, an optional <code>detail</code>, and <code>instance</code>, the request ID. <code>type</code> is the path of a page about the error: see <a href="/docs/errors">all errors</a>. A malformed request has <code>errors</code>, one for each refused value. With 429 and 503, <code>Retry-After</code> is the number of seconds to wait.</li>
          <li>201 has the path of the new object in <code>Location</code>, 405 the methods of the path in <code>Allow</code>. <code>RateLimit-Policy</code> has the limit that counted the request, <code>RateLimit</code> what is left of it and the seconds until it is full again.</li>
          <li>404 means that an object does not exist or that you have no access to it. The response is the same in both cases.</li>
        </ul>
      </section>`
}

function tagSection(description: ApiDescription, tag: string, entries: readonly Entry[]): Html {
  const resolve = (answer: Parameters<typeof answerOf>[1]) => answerOf(description, answer)
  return html`<section class="card" aria-labelledby="${anchorOf(tag)}">
        <h2 id="${anchorOf(tag)}" class="topic">${tag}</h2>
        ${entries.map(({ path, method, operation }) => operationEntry(path, method, operation, resolve))}
      </section>`
}

function groupByTag({ paths }: ApiDescription): [string, Entry[]][] {
  const entries = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  )
  const groups = Map.groupBy(entries, ({ operation }) => operation.tags?.[0] ?? 'other')
  const rank = (tag: string) => (order.includes(tag) ? order.indexOf(tag) : order.length)
  return [...groups].sort(([one], [other]) => rank(one) - rank(other))
}

function anchorOf(tag: string): string {
  return tag.replaceAll(/\W+/g, '-')
}

/** A field as a table row; `name` is its path: `lineItems[].sku`. */
export type FieldRow = { name: string; type: string; required: boolean; note: string }

/** Every field of a schema; the fields of a nested object follow the field that holds it. */
export function fieldsOf(schema: Schema, prefix = ''): FieldRow[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([key, field]) => {
    const name = `${prefix}${key}`
    const row = {
      name,
      type: typeText(field),
      required: required.includes(key),
      note: field.description ?? '',
    }
    return [row, ...nestedFields(name, field)]
  })
}

function nestedFields(name: string, field: Schema): FieldRow[] {
  if (field.items !== undefined) return fieldsOf(field.items, `${name}[].`)
  const [first] = withoutNull(alternativesOf(field))
  return fieldsOf(first ?? field, `${name}.`)
}

/** A short description of a schema: `string, 1 to 200 characters`, `integer, or null`. */
export function typeText(schema: Schema): string {
  const { items, const: constant } = schema
  const alternatives = alternativesOf(schema)
  if (constant !== undefined) return JSON.stringify(constant)
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  if (alternatives.length > 0) {
    const words = withoutNull(alternatives).map(typeText).join(' or ')
    return alternatives.some(isNull) ? `${words}, or null` : words
  }
  if (items !== undefined) return `list of ${typeText(items)}${limits(schema)}`
  const [type = 'anything'] = [schema.type ?? []].flat()
  return `${names[schema.format ?? ''] ?? names[type] ?? type}${limits(schema)}`
}

const names: Readonly<Record<string, string>> = {
  string: 'string',
  'date-time': 'time (RFC 3339)',
  uuid: 'UUID',
  email: 'email address',
}

function limits(schema: Schema): string {
  const { minLength, maxLength, minItems, maxItems, minimum, maximum } = schema
  if (schema.format !== undefined) return ''
  if (maxLength !== undefined) return `, ${range(minLength ?? 0, maxLength)} characters`
  if (maxItems !== undefined) return `, ${range(minItems ?? 0, maxItems)} items`
  // Every id has this limit, the largest exact integer in JSON; it is not worth showing.
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return ''
  return `, ${range(minimum ?? 0, maximum)}`
}

function range(from: number, to: number): string {
  return from === to ? String(to) : `${from} to ${to.toLocaleString('en')}`
}

function withoutNull(schemas: readonly Schema[]): Schema[] {
  return schemas.filter((schema) => !isNull(schema))
}

function isNull({ type }: Schema): boolean {
  return type === 'null'
}

const schemes: Readonly<Record<string, string>> = { session: 'a session', token: 'an API token' }

type Resolve = (answer: Answer | Reference) => Answer

/** One operation, collapsed: access, parameters, body and responses. */
function operationEntry(
  path: string,
  method: string,
  operation: Operation,
  resolve: Resolve,
): Html {
  const { operationId = '', summary = '', description, parameters = [], requestBody } = operation
  const rows = parameters.map((parameter) => ({
    name: parameter.name,
    type: `${typeText(parameter.schema)}, in the ${parameter.in}`,
    required: parameter.required === true,
    note: parameter.description ?? '',
  }))
  // A browser opens a closed <details> for a link to an element inside it, not for one to itself.
  return html`<details class="operation">
          <summary><code class="method">${method.toUpperCase()}</code> <code class="path">${path}</code> <span class="quiet">${summary}</span></summary>
          <div id="${operationId}">
          ${description === undefined ? '' : paragraphs(description)}
          ${securityText(operation)}
          ${rows.length === 0 ? '' : html`<h3>Parameters</h3>${fieldTable(rows)}`}
          ${requestBody === undefined ? '' : html`<h3>Body</h3>${content(requestBody.content)}`}
          <h3>Responses</h3>
          ${responseList(operation, resolve)}
          </div>
        </details>`
}

function securityText({ security }: Operation): Html | string {
  if (security === undefined) return ''
  const ways = security.flatMap((one) => Object.keys(one)).map((name) => schemes[name] ?? name)
  return html`<p class="quiet">${ways.length === 0 ? 'No authentication.' : `Requires ${ways.join(' or ')}.`}</p>`
}

/** Successful responses in full; errors on one line each, because they all have the same body. */
function responseList({ responses }: Operation, resolve: Resolve): Html {
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
    const rows = fieldsOf(schema)
    return html`<p class="quiet small-gap"><code>${type}</code>${rows.length === 0 ? `: ${typeText(schema)}` : ''}</p>
          ${rows.length === 0 ? '' : fieldTable(rows)}
          ${rows.length === 0 ? '' : html`<pre class="example" tabindex="0" aria-label="Example">${JSON.stringify(example, null, 2)}</pre>`}`
  })
  return html`${parts}`
}

export function fieldTable(rows: readonly FieldRow[]): Html {
  return html`<div class="scroll"><table class="fields">
          <thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
          <tbody>${rows.map(
            ({ name, type, required, note }) => html`<tr>
            <td><code>${name}</code>${required ? '' : html` <span class="quiet">optional</span>`}</td>
            <td>${type}</td>
            <td class="quiet">${withCodeSpans(note)}</td>
          </tr>`,
          )}</tbody>
        </table></div>`
}

function paragraphs(text: string): Html {
  return html`${text.split('\n\n').map((one) => html`<p>${withCodeSpans(one)}</p>`)}`
}
