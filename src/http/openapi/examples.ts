/** Example values by string format. */
const byFormat: Readonly<Record<string, string>> = {
  uuid: '0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60',
  'date-time': '2026-11-21T09:30:00.000Z',
  email: 'ada@acme.example',
  uri: 'https://app.example.com/',
}

/** Example values by field name; a test validates every example against its schema. */
const byName: Readonly<Record<string, unknown>> = {
  acceptedAt: null,
  action: 'sign-in',
  amount: 4_900,
  amountRefunded: 0,
  attempts: 1,
  authorServiceId: null,
  billingCustomer: 'cus_42',
  body: 'The gate opens at nine.',
  bytes: 48_213,
  cancelledAt: null,
  cancelsAt: null,
  cardLast4: '4242',
  city: 'Lisbon',
  country: 'PT',
  currency: 'EUR',
  cursor: 'Zx8…',
  customer: 'cus_42',
  department: 'engineering',
  differentIds: [],
  description: 'Production',
  digits: 2,
  disabledAt: null,
  dismissedReason: null,
  durationMs: 120,
  email: 'ada@acme.example',
  error: null,
  eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  expiresAt: '2027-05-21T09:30:00.000Z',
  explanation: null,
  failingSince: null,
  httpStatus: null,
  id: '42',
  inviter: 'Ada Okafor',
  ip: '203.0.113.7',
  issuer: 'https://login.acme.example',
  kind: 'endpoint-failing',
  lastError: null,
  limit: '50',
  line1: '1 Harbour Street',
  line2: 'Second floor',
  maxBytes: 1_073_741_824,
  maxRows: 100_000,
  missedIds: ['evt_42'],
  name: 'Ada Okafor',
  nextCursor: null,
  otherBodies: 0,
  outcome: 'done',
  overlapSeconds: 86_400,
  parentId: null,
  permissions: ['post:read'],
  plan: 'pro',
  postalCode: '1100-012',
  previousSecretExpiresAt: '2026-11-22T09:30:00.000Z',
  price: 'price_pro',
  provider: 'acme',
  providerError: null,
  reason: null,
  responseExcerpt: 'ok',
  returnTo: '/app/account',
  role: 'admin',
  rows: 1_204,
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  serviceId: null,
  serviceName: null,
  sku: 'GATE-OAK-200',
  statusCode: 200,
  subject: '248289761001',
  target: '42',
  title: 'Opening hours',
  to: '2026-11-22T09:30:00.000Z',
  token: 'gth_…',
  type: 'charge.succeeded',
  unitPrice: 45_900,
  url: 'https://app.acme.example/webhooks',
  userAgent: 'curl/8.9',
  userId: '7',
}

/** Example values by the schema or field that has them, and the field's name. */
const byOwner: readonly [owner: RegExp, name: string, value: unknown][] = [
  [/^Identity/, 'url', 'https://login.acme.example/authorize?…'],
  [/^Checkout/, 'url', 'https://pay.acme.example/session/42'],
  [/token/i, 'name', 'Nightly import'],
  [/^ServiceToken/, 'token', 'gths_…'],
  [/tenant|^Membership/i, 'name', 'Acme'],
  [/^Team/, 'name', 'Engineering'],
  [/folder/i, 'name', 'Handbook'],
  [/^subscription$/, 'status', 'active'],
  [/^Invoice/, 'status', 'paid'],
  [/^health$/, 'reason', 'Every attempt of the last hour succeeded.'],
  [/^forecasts$/, 'message', 'The certificate of the receiver ends in 9 days.'],
  [/^Notification/, 'message', 'The endpoint https://app.acme.example/webhooks is failing.'],
]

/**
 * Builds an example that is valid for a schema.
 * @param name field or parameter name, to choose a meaningful value
 * @param owner title of the schema that has the field, or its own field name
 */
export function exampleOf(schema: Schema, name = '', owner = ''): unknown {
  if (schema.examples !== undefined) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const [first] = alternativesOf(schema)
  const type = typeof schema.type === 'object' ? schema.type[0] : schema.type
  const own = byOwner.find(([pattern, field]) => field === name && pattern.test(owner))
  const named = own === undefined ? byName[name] : own[2]
  if (named === null && schema.anyOf?.some((one) => one.type === 'null')) return null
  if (first !== undefined) return exampleOf(first, name, owner)
  if (type === 'object') return exampleObject(schema, name)
  if (type === 'array') return Array.isArray(named) ? named : exampleList(schema, name)
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
function exampleObject(
  { title, properties = {}, required = [], ...schema }: Schema,
  name: string,
): unknown {
  const alternatives = schema.oneOf?.[0]?.required
  const exclusive = alternatives !== undefined || 'not' in schema
  const all = Object.entries(properties)
  const needed = all.filter(([name]) => required.includes(name) || alternatives?.includes(name))
  const shown = exclusive ? (needed.length > 0 ? needed : all.slice(0, 1)) : all
  return Object.fromEntries(shown.map(([key, one]) => [key, exampleOf(one, key, title ?? name)]))
}

function exampleList({ items }: Schema, name: string): unknown[] {
  if (items === undefined) return []
  // The items of a field are objects of that name; a name of its own fits no single value.
  const isObject = items.properties !== undefined
  return [exampleOf(items, isObject ? name : '')]
}

function textOf({ format, pattern = '' }: Schema, named: unknown): string {
  const isTime = typeof named === 'string' && !Number.isNaN(Date.parse(named))
  if (format === 'date-time' && isTime) return named
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
  /** What a schema with a title means where it is. */
  $comment?: string
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
