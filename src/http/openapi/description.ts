import { idFilterPattern } from '#src/http/lists/query.ts'
import { type ErrorCode, errorTable, problemType } from '#src/http/problems.ts'
import { codesOf, Id, IdParams, PageQuery, ProblemBody } from '#src/http/schemas.ts'
import { mapInner, mapSchemas, nameSchemas, referenceTo } from './components.ts'
import type {
  Answer,
  ApiDescription,
  Media,
  Operation,
  Parameter,
  Reference,
  Schema,
} from './examples.ts'
import { exampleOf } from './examples.ts'

const problemMedia = 'application/problem+json'

/**
 * Texts that stand for an integer, by their pattern. Paths and queries are text, and the runtime
 * accepts only the canonical digits; the description shows what they mean.
 */
const integers: ReadonlyMap<string | undefined, Schema> = new Map([
  [patternOf(IdParams.properties.id), { ...Id }],
  [idFilterPattern, { ...Id }],
  [
    patternOf(PageQuery.properties.limit),
    { type: 'integer', minimum: 1, maximum: 100, default: 50 },
  ],
])

function patternOf({ pattern }: Schema): string | undefined {
  return pattern
}

const retryAfter = {
  'Retry-After': {
    description: 'Seconds to wait before the next attempt',
    schema: { type: 'integer' },
  },
}
const location = {
  Location: { description: 'Path of the new object', schema: { type: 'string' } },
}
const link = {
  Link: {
    description: 'Paths of the first, the next and the previous page (RFC 8288)',
    schema: { type: 'string' },
  },
}
const etag = {
  ETag: {
    description: 'The version of the object, for `If-Match` and `If-None-Match`',
    schema: { type: 'string' },
  },
}
const rateLimitNote = 'draft-ietf-httpapi-ratelimit-headers; not sent if limits are switched off'
/** Components, because every successful response has them. */
const rateLimitHeaders = {
  RateLimit: {
    description: `What is left of the limit that counted the request, and the seconds until it is full again (${rateLimitNote})`,
    schema: { type: 'string' },
    example: '"api";r=599;t=60',
  },
  'RateLimit-Policy': {
    description: `That limit: requests in a window of so many seconds (${rateLimitNote})`,
    schema: { type: 'string' },
    example: '"api";q=600;w=60',
  },
}
const rateLimit = Object.fromEntries(
  Object.keys(rateLimitHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)
const replayed = {
  'Idempotent-Replayed': {
    description: '`true` for the response of an earlier request with the same `Idempotency-Key`',
    schema: { type: 'string', const: 'true' },
  },
}

type Additions = {
  webhooks: NonNullable<ApiDescription['webhooks']>
  /** Schemas that take the place of those with the same title. */
  replacements: Readonly<Record<string, Schema>>
}

/**
 * Completes the collected description: shows integers, adds examples, webhooks and descriptions of
 * responses, and names every schema with a title and every problem as a component.
 * @throws if a response has neither a description nor a title
 */
export function finishDescription(
  description: ApiDescription,
  { webhooks, replacements }: Additions,
): ApiDescription {
  const used: UsedProblems = new Map()
  const replace = (schema: Schema): Schema =>
    replacements[schema.title ?? ''] ?? mapInner(schema, replace)
  const paths = Object.entries(description.paths).map(([path, operations]) => {
    const finished = Object.entries(operations).map(([method, operation]) => [
      method,
      finishOperation({ method, path }, mapSchemas(operation, replace), used),
    ])
    return [path, Object.fromEntries(finished)]
  })
  const answers = [...used].map(([name, codes]) => [name, problemAnswer(codes)])
  // Also of the problems that are only one of the media types of a response.
  const codes = new Set([
    ...errorsIn(Object.values(description.paths)),
    ...[...used.values()].flat(),
  ])
  return nameSchemas({
    ...description,
    paths: Object.fromEntries(paths),
    webhooks,
    components: {
      ...description.components,
      schemas: { Problem: ProblemBody, ...problemSchemas([...codes]) },
      headers: rateLimitHeaders,
      responses: Object.fromEntries(answers.toSorted()),
    },
  })
}

/** The sets of codes that have a response component, by its name. */
type UsedProblems = Map<string, readonly ErrorCode[]>

function errorsIn(paths: readonly Record<string, Operation>[]): ErrorCode[] {
  const answers = paths.flatMap((path) =>
    Object.values(path).flatMap(({ responses }) => Object.values(responses)),
  )
  return answers
    .flatMap((answer) => ('content' in answer ? Object.values(answer.content ?? {}) : []))
    .flatMap(({ schema }) => codesOf(schema))
}

function finishOperation(
  { method, path }: { method: string; path: string },
  operation: Operation,
  used: UsedProblems,
): Operation {
  const { parameters, requestBody, responses } = operation
  const has = (header: string) => parameters?.some(({ name }) => name === header) === true
  const isTagged = has('if-match') || has('if-none-match')
  const headers = {
    ...(isTagged && method !== 'delete' && etag),
    ...(has('idempotency-key') && replayed),
  }
  const answers = Object.entries(responses).map(([status, answer]) => [
    status,
    '$ref' in answer ? answer : finishAnswer(method, status, answer, headers, used),
  ])
  const usual: ErrorCode[] =
    requestBody === undefined ? ['internal'] : ['too-large', 'unsupported-media-type', 'internal']
  return {
    ...operation,
    ...(parameters && { parameters: parameters.map((one) => finishParameter(path, one)) }),
    ...(requestBody && { requestBody: finishBody(requestBody) }),
    responses: {
      ...(has('if-none-match') && { 304: { description: 'The object has not changed' } }),
      ...Object.fromEntries(
        usual.map((code) => [errorTable[code].status, problemRef([code], used)]),
      ),
      ...Object.fromEntries(answers),
    },
  }
}

function finishAnswer(
  method: string,
  status: string,
  answer: Answer,
  headers: NonNullable<Answer['headers']>,
  used: UsedProblems,
): Answer | Reference {
  const media = Object.entries(answer.content ?? {})
  const isProblem = ([, { schema }]: (typeof media)[number]) => codesOf(schema).length > 0
  const [first] = media
  if (first !== undefined && media.every(isProblem))
    return problemRef(codesOf(first[1].schema), used)
  const described = answer.description !== 'Default Response'
  const all = {
    ...answer.headers,
    ...(['201', '202'].includes(status) && location),
    ...(media.some(isPage) && link),
    ...(Number(status) < 300 && { ...headers, ...rateLimit }),
    ...(isWait(Number(status)) && retryAfter),
  }
  return {
    ...answer,
    ...(Object.keys(all).length > 0 && { headers: all }),
    description: described ? answer.description : describe(method, status, first?.[1].schema),
    ...(media.length > 0 && {
      content: Object.fromEntries(
        media.map((one) =>
          isProblem(one)
            ? [problemMedia, { schema: problemSchema(codesOf(one[1].schema)) }]
            : [one[0], withExample(one[1])],
        ),
      ),
    }),
  }
}

/** Whether responses of the status have `Retry-After`. */
function isWait(status: number): boolean {
  return status === 429 || status === 503
}

/** `The new order`, for a response without a description of its own. */
function describe(method: string, status: string, schema: Schema | undefined): string {
  const [, name, page] = /^(.+?)(Page)?$/.exec(schema?.title ?? '') ?? []
  if (!name) throw new Error(`A response ${status} has no description, and its schema no title.`)
  const words = wordsOf(name)
  if (page !== undefined) return `A page of ${words.replace(/([^aeiou])y$/, '$1ie')}s`
  if (status === '201') return `The new ${words}`
  if (status === '202') return `The ${words}, which continues in the background`
  return `The ${words}${method === 'patch' ? ' as it is now' : ''}`
}

/** `API token with secret` for `ApiTokenWithSecret`. */
function wordsOf(name: string): string {
  const words = name.replaceAll(/(?<=.)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.replace(/^Api\b/, 'API').replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())
}

/** A page of a list or of a feed. */
function isPage([, { schema }]: [string, Media]): boolean {
  return schema.properties?.nextCursor !== undefined
}

/** A response component for each set of codes, such as `#/components/responses/NotFound`. */
function problemRef(codes: readonly ErrorCode[], used: UsedProblems): Reference {
  const name = codes.map(nameOf).join('Or')
  used.set(name, codes)
  return { $ref: `#/components/responses/${name}` }
}

function problemAnswer(codes: readonly ErrorCode[]): Answer {
  const [first] = codes
  if (first === undefined) throw new Error('A problem has no code.')
  const { status, title } = errorTable[first]
  const instance = exampleOf({ type: 'string', format: 'uuid' })
  return {
    description: codes.map((code) => errorTable[code].title).join('; '),
    ...(isWait(status) && { headers: retryAfter }),
    content: {
      [problemMedia]: {
        schema: problemSchema(codes),
        example: { type: problemType(first), title, status, instance },
      },
    },
  }
}

function problemSchema(codes: readonly ErrorCode[]): Schema {
  const references = codes.map((code) => referenceTo(`${nameOf(code)}Problem`))
  const [only, ...others] = references
  if (only !== undefined && others.length === 0) return only
  const mapping = codes.map((code, index) => [problemType(code), references[index]?.$ref ?? ''])
  return {
    oneOf: references,
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) },
  }
}

function problemSchemas(codes: readonly ErrorCode[]): Record<string, Schema> {
  const entries = codes.map((code) => {
    const { status, title, meaning } = errorTable[code]
    const own: Schema = {
      type: 'object',
      properties: {
        type: { type: 'string', const: problemType(code) },
        title: { type: 'string', const: title },
        status: { type: 'integer', const: status },
      },
      required: ['type', 'title', 'status'],
    }
    return [
      `${nameOf(code)}Problem`,
      { description: meaning, allOf: [referenceTo('Problem'), own] },
    ]
  })
  return Object.fromEntries(entries)
}

/** `NotFound` for `not-found`. */
function nameOf(code: ErrorCode): string {
  return code.replaceAll(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase())
}

function finishParameter(path: string, parameter: Parameter): Parameter {
  const { name, description = idWords(path, parameter.name) } = parameter
  const schema = integers.get(parameter.schema.pattern) ?? parameter.schema
  if (parameter.in !== 'path') return { ...parameter, schema }
  return { ...parameter, description, schema, example: exampleOf(schema, name) }
}

/** `id` of the API token, for `{id}` of `/api-tokens/{id}`: the path names what is before it. */
function idWords(path: string, name: string): string {
  const [, plural = ''] = new RegExp(`([^/]+)/\\{${name}\\}`).exec(path) ?? []
  const words = plural.replaceAll('-', ' ').replace(/ies$/, 'y').replace(/s$/, '')
  return `\`id\` of the ${words}`
}

/** A body that may be null may be left out. */
function finishBody({ required, content }: NonNullable<Operation['requestBody']>) {
  const isNull = ({ type }: Schema) => type === 'null'
  const media = Object.entries(content).map(([type, one]) => {
    const [only = one.schema, ...others] = one.schema.anyOf?.filter((part) => !isNull(part)) ?? []
    return [type, { ...one, schema: others.length === 0 ? only : one.schema }] as const
  })
  const isOptional = Object.values(content).some(({ schema }) => schema.anyOf?.some(isNull))
  return {
    required: required === true && !isOptional,
    content: withExamples(Object.fromEntries(media)),
  }
}

function withExamples(content: Record<string, Media>): Record<string, Media> {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [type, withExample(media)]),
  )
}

function withExample(media: Media): Media {
  return media.example === undefined ? { ...media, example: exampleOf(media.schema) } : media
}
