import { alternativesOf, type Schema } from '#src/http/openapi/examples.ts'
import { type Html, html, withCodeSpans } from './html.ts'

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
  return field.items === undefined
    ? fieldsOf(commonOf(field), `${name}.`)
    : fieldsOf(commonOf(field.items), `${name}[].`)
}

/** What the alternatives of a union have in common: the fields of all, with each of their types. */
function commonOf(schema: Schema): Schema {
  const [first, ...others] = withoutNull(alternativesOf(schema))
  if (first === undefined || others.length === 0) return first ?? schema
  const { required = [], properties = {} } = first
  const common = Object.entries(properties).flatMap(([key, field]) => {
    const rest = others.flatMap((other) => other.properties?.[key] ?? [])
    const { description = '' } = field
    return rest.length === others.length
      ? [[key, { description, anyOf: [field, ...rest] }] as const]
      : []
  })
  return { properties: Object.fromEntries(common), required }
}

/** A short description of a schema: `string, 1 to 200 characters`, `integer, or null`. */
export function typeText(schema: Schema): string {
  const { items, const: constant } = schema
  const alternatives = alternativesOf(schema)
  if (constant !== undefined) return JSON.stringify(constant)
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  if (alternatives.length > 0) {
    const words = [...new Set(withoutNull(alternatives).map(typeText))].join(' or ')
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
