import type { Schema } from '#src/api/description.ts'

/** A field as a line of a table; `name` says where it is: `lineItems[].sku`. */
export type FieldRow = { name: string; type: string; required: boolean; note: string }

/** Every field of a schema, those of nested objects behind the field that holds them. */
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
    return [row, ...nested(name, field)]
  })
}

function nested(name: string, field: Schema): FieldRow[] {
  if (field.items !== undefined) return fieldsOf(field.items, `${name}[].`)
  const [first] = withoutNull(field.anyOf ?? [])
  return fieldsOf(first ?? field, `${name}.`)
}

/** A schema in a few words: `text, 1 to 200 characters`, `integer or null`. */
export function typeText(schema: Schema): string {
  const { anyOf, items, const: constant } = schema
  if (constant !== undefined) return JSON.stringify(constant)
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  if (anyOf !== undefined) {
    const words = withoutNull(anyOf).map(typeText).join(' or ')
    return anyOf.some(isNull) ? `${words}, or null` : words
  }
  if (items !== undefined) return `list of ${typeText(items)}${limits(schema)}`
  const [type = 'anything'] = [schema.type ?? []].flat()
  return `${names[schema.format ?? ''] ?? names[type] ?? type}${limits(schema)}`
}

const names: Readonly<Record<string, string>> = {
  string: 'text',
  'date-time': 'time (RFC 3339)',
  uuid: 'uuid',
  email: 'e-mail address',
}

function limits(schema: Schema): string {
  const { minLength, maxLength, minItems, maxItems, minimum, maximum } = schema
  if (schema.format !== undefined) return ''
  if (maxLength !== undefined) return `, ${range(minLength ?? 0, maxLength)} characters`
  if (maxItems !== undefined) return `, ${range(minItems ?? 0, maxItems)} of them`
  // The largest exact number of JSON is the limit of every id; saying so helps nobody.
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
