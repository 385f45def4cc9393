/** Example values by string format. */
const byFormat: Readonly<Record<string, string>> = {
  uuid: '0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60',
  'date-time': '2026-11-21T09:30:00.000Z',
  email: 'ada@acme.example',
  uri: 'https://app.example.com/',
}

/** Example values by field name; a test validates every example against its schema. */
const byName: Readonly<Record<string, unknown>> = {
  action: 'sign-in',
  amount: 4_900,
  attempts: 1,
  body: 'The gate opens at nine.',
  cardLast4: '4242',
  city: 'Lisbon',
  country: 'PT',
  currency: 'eur',
  cursor: 'Zx8…',
  department: 'engineering',
  email: 'ada@acme.example',
  id: '42',
  ip: '203.0.113.7',
  limit: '50',
  line1: '1 Harbour Street',
  line2: 'Second floor',
  name: 'Ada Okafor',
  nextCursor: null,
  otherBodies: 0,
  outcome: 'done',
  permissions: ['post:read'],
  plan: 'pro',
  postalCode: '1100-012',
  provider: 'acme',
  role: 'admin',
  sku: 'GATE-OAK-200',
  subject: '248289761001',
  title: 'Opening hours',
  token: 'gth_…',
  type: 'charge.succeeded',
  unitPrice: 45_900,
  url: 'https://login.example.com/authorize?…',
  userAgent: 'curl/8.9',
  userId: '7',
}

/**
 * Builds an example that is valid for a schema.
 * @param name field or parameter name, to choose a meaningful value
 */
export function exampleOf(schema: Schema, name = ''): unknown {
  if (schema.examples !== undefined) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const [first] = alternativesOf(schema)
  const type = typeof schema.type === 'object' ? schema.type[0] : schema.type
  const named = byName[name]
  if (named === null && schema.anyOf?.some((one) => one.type === 'null')) return null
  if (first !== undefined) return exampleOf(first, name)
  if (type === 'object') return exampleObject(schema)
  if (type === 'array') return Array.isArray(named) ? named : exampleList(schema)
  if (type === 'string') return textOf(schema, named)
  if (type === 'integer' || type === 'number') {
    return Number.isInteger(Number(named ?? Number.NaN))
      ? Number(named)
      : Math.max(1, schema.minimum ?? 1)
  }
  return type === 'boolean' ? true : null
}

/** The schemas of a union; none for an object whose fields exclude each other. */
export function alternativesOf({ anyOf, oneOf, properties }: Schema): readonly Schema[] {
  return anyOf ?? (properties === undefined ? oneOf : undefined) ?? []
}

/** All fields; if some exclude each other, only the required ones, but at least one. */
function exampleObject({ properties = {}, required = [], ...schema }: Schema): unknown {
  const alternatives = schema.oneOf?.[0]?.required
  const exclusive = alternatives !== undefined || 'not' in schema
  const all = Object.entries(properties)
  const needed = all.filter(([name]) => required.includes(name) || alternatives?.includes(name))
  const shown = exclusive ? (needed.length > 0 ? needed : all.slice(0, 1)) : all
  return Object.fromEntries(shown.map(([name, one]) => [name, exampleOf(one, name)]))
}

function exampleList({ items }: Schema): unknown[] {
  return items === undefined ? [] : [exampleOf(items)]
}

function textOf({ format, pattern = '' }: Schema, named: unknown): string {
  if (format !== undefined && byFormat[format] !== undefined) return byFormat[format]
  const fits = typeof named === 'string' && new RegExp(pattern, 'u').test(named)
  return fits ? named : 'text'
}

/** The parts of an OpenAPI 3.1 document that this program uses. */
export type ApiDescription = {
  info: { title: string; version: string; description?: string }
  servers?: readonly { url: string }[]
  paths: Record<string, Record<string, Operation>>
  /** By the type of the event. */
  webhooks?: Record<string, Record<string, Operation>>
  components?: Components
}

type Components = {
  schemas?: Record<string, Schema>
  responses?: Record<string, Answer>
  securitySchemes?: Record<string, object>
  headers?: Record<string, Header>
}

export type Operation = {
  operationId?: string
  tags?: readonly string[]
  summary?: string
  description?: string
  security?: readonly Record<string, readonly string[]>[]
  parameters?: readonly Parameter[]
  requestBody?: { required?: boolean; content: Record<string, Media> }
  responses: Record<string, Answer | Reference>
}

export type Reference = { $ref: string }

export type Parameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
  example?: unknown
}

export type Header = { description: string; schema: Schema; example?: unknown }

export type Answer = {
  description: string
  headers?: Readonly<Record<string, Header | Reference>>
  content?: Record<string, Media>
}

export type Media = { schema: Schema; example?: unknown }

export type Schema = {
  title?: string
  type?: string | readonly string[]
  description?: string
  format?: string
  pattern?: string
  enum?: readonly unknown[]
  const?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
  properties?: Record<string, Schema>
  required?: readonly string[]
  items?: Schema
  allOf?: readonly Schema[]
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  not?: Schema
  default?: unknown
  discriminator?: { propertyName: string; mapping?: Readonly<Record<string, string>> }
  examples?: readonly unknown[]
  $ref?: string
}

/** Resolves a reference to a response among the components. */
export function answerOf({ components }: ApiDescription, answer: Answer | Reference): Answer {
  if (!('$ref' in answer)) return answer
  const found = components?.responses?.[answer.$ref.replace('#/components/responses/', '')]
  if (found === undefined) throw new Error(`The description has no ${answer.$ref}.`)
  return found
}
