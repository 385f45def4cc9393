import type {
  Answer,
  ApiDescription,
  Media,
  Operation,
  Parameter,
  Reference,
  Schema,
} from './openapi-examples.ts'
import { exampleOf } from './openapi-examples.ts'
import { errorCodes, errorTable, problemType } from './problems.ts'

const problemMedia = 'application/problem+json'
const problemSchema: Reference = { $ref: '#/components/schemas/Problem' }

/** Descriptions of responses whose routes have none. */
const defaultDescriptions: Readonly<Record<string, string>> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted; processing continues in the background',
  204: 'Success, without a body',
  302: 'Redirect to `Location`',
  303: 'Success; redirect to the page in `Location`',
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

/**
 * Completes the collected description: adds operation ids, examples and response descriptions, and
 * describes each problem once, under its media type (RFC 9457).
 * @param problem schema of a problem, recognised in responses by its title
 */
export function finishDescription(description: ApiDescription, problem: Schema): ApiDescription {
  const paths = Object.entries(description.paths).map(([path, operations]) => {
    const finished = Object.entries(operations).map(([method, operation]) => [
      method,
      finishOperation(path, method, operation, problem),
    ])
    return [path, Object.fromEntries(finished)]
  })
  const { $id: _id, ...schema } = { $id: '', ...problem }
  const finished: Record<string, Record<string, Operation>> = Object.fromEntries(paths)
  return {
    ...description,
    paths: finished,
    components: {
      ...description.components,
      schemas: { ...description.components?.schemas, Problem: schema },
      responses: problemAnswers(finished),
    },
  }
}

function finishOperation(
  path: string,
  method: string,
  operation: Operation,
  problem: Schema,
): Operation {
  const { parameters, requestBody } = operation
  const answers = Object.entries(operation.responses).map(([status, answer]) => [
    status,
    '$ref' in answer ? answer : finishAnswer(status, answer, problem),
  ])
  return {
    operationId: operationId(path, method),
    ...operation,
    ...(parameters && { parameters: parameters.map(withPathExample) }),
    ...(requestBody && {
      requestBody: { ...requestBody, content: withExamples(requestBody.content) },
    }),
    responses: Object.fromEntries(answers),
  }
}

function finishAnswer(status: string, answer: Answer, problem: Schema): Answer | Reference {
  const media = Object.entries(answer.content ?? {})
  const isProblem = ([, { schema }]: (typeof media)[number]) =>
    'title' in schema && schema.title === problem.title
  if (media.length > 0 && media.every(isProblem)) {
    return { $ref: `#/components/responses/Problem${status}` }
  }
  const described = answer.description !== 'Default Response'
  return {
    ...answer,
    ...(status === '201' && { headers: location }),
    ...(media.some(isPage) && { headers: link }),
    description: described
      ? answer.description
      : (defaultDescriptions[status] ?? titlesOf(Number(status))),
    ...(media.length > 0 && {
      content: Object.fromEntries(
        media.map((one) =>
          isProblem(one)
            ? [problemMedia, { schema: problemSchema }]
            : [one[0], withExample(one[1])],
        ),
      ),
    }),
  }
}

/** A page of a list or of a feed. */
function isPage([, { schema }]: [string, Media]): boolean {
  return 'properties' in schema && schema.properties?.nextCursor !== undefined
}

/** One problem response for each error status in use. */
function problemAnswers(paths: ApiDescription['paths']): Record<string, Answer> {
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  const used = operations.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, answer]) => ('$ref' in answer ? [status] : [])),
  )
  return Object.fromEntries(
    [...new Set(used)].map(Number).map((status) => [
      `Problem${status}`,
      {
        description: titlesOf(status),
        ...((status === 429 || status === 503) && { headers: retryAfter }),
        content: { [problemMedia]: { schema: problemSchema, example: problemExample(status) } },
      },
    ]),
  )
}

function titlesOf(status: number): string {
  const titles = Object.values(errorTable).filter((entry) => entry.status === status)
  return titles.map(({ title }) => title).join('; ')
}

function problemExample(status: number) {
  const [code] = errorCodes.filter((one) => errorTable[one].status === status)
  if (code === undefined) throw new Error(`No problem has the status ${status}.`)
  const instance = exampleOf({ type: 'string', format: 'uuid' })
  return { type: problemType(code), title: errorTable[code].title, status, instance }
}

function withPathExample(parameter: Parameter): Parameter {
  if (parameter.in !== 'path') return parameter
  return { ...parameter, example: exampleOf(parameter.schema, parameter.name) }
}

function withExamples(content: Record<string, Media>): Record<string, Media> {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [type, withExample(media)]),
  )
}

function withExample(media: Media): Media {
  if ('$ref' in media.schema || media.example !== undefined) return media
  return { ...media, example: exampleOf(media.schema) }
}

/** `getTeamsByIdMembers` for `GET /teams/{id}/members`. */
function operationId(path: string, method: string): string {
  const parts = path.split(/[/-]/).map((part) => {
    const parameter = /^\{(\w+)\}$/.exec(part)
    return parameter ? `By${capital(parameter[1] ?? '')}` : capital(part)
  })
  return method + parts.join('')
}

function capital(word: string): string {
  return word.replace(/^\w/, (letter) => letter.toUpperCase()).replaceAll(/\W/g, '')
}
