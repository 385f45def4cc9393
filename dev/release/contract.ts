import {
  type Answer,
  type ApiDescription,
  answerOf,
  type Operation,
  type Schema,
} from '#src/http/openapi/examples.ts'

const head = `# The HTTP API in short, written by \`npm run generate\`: a line that changes here changes what callers
# see. ? after a name: it may be absent. docs/openapi.json, which \`npm ci\` writes, has the rest.
`

/**
 * docs/contract.txt: a line for each operation (method, path, operationId, parameters, body, answers),
 * each type of event, and each schema with its members.
 */
export function contractDigest(api: ApiDescription): string {
  const operations = Object.entries(api.paths)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .map(([method, operation]) =>
          operationLine(api, `${method.toUpperCase()} ${path}`, operation),
        )
        .toSorted(),
    )
  const events = Object.entries(api.webhooks ?? {}).flatMap(([type, methods]) =>
    Object.values(methods).map(({ requestBody }) => `${type}: ${contentOf(requestBody)}`),
  )
  const schemas = Object.entries(api.components?.schemas ?? {}).map(
    ([name, schema]) => `${name}: ${typeOf(schema)}`,
  )
  const lines = [operations, events.toSorted(), schemas.toSorted()].map((part) => part.join('\n'))
  return `${[head.trimEnd(), ...lines].join('\n\n')}\n`
}

function operationLine(api: ApiDescription, route: string, operation: Operation): string {
  const { operationId = '', parameters = [], requestBody } = operation
  const named = parameters
    .filter((parameter) => parameter.in !== 'path')
    .map(({ name, required }) => `${name}${required ? '' : '?'}`)
  const body = requestBody && `${contentOf(requestBody)}${requestBody.required ? '' : '?'}`
  const answers = Object.entries(operation.responses).map(([status, answer]) =>
    `${status} ${contentOf(answerOf(api, answer))}`.trim(),
  )
  const request = [route, operationId, named.length > 0 && `(${named.join(' ')})`, body]
  return `${request.filter(Boolean).join(' ')} -> ${answers.join(', ')}`
}

/** What a message contains: JSON by its type, all else with its media type. Problems by their short name. */
function contentOf(message: Pick<Answer, 'content'> | undefined): string {
  return Object.entries(message?.content ?? {})
    .map(([mediaType, { schema }]) => {
      const type = typeOf(schema).replaceAll(/Problem\b/g, '')
      return mediaType.endsWith('json') ? type : `${mediaType} ${type}`.trim()
    })
    .join(' or ')
}

function typeOf(schema: Schema): string {
  const { properties, required = [], anyOf, oneOf = anyOf, allOf, items } = schema
  const members = Object.entries(properties ?? {}).map(
    ([name, type]) => `${name}${required.includes(name) ? '' : '?'} ${typeOf(type)}`,
  )
  const choices = schema.enum ?? ('const' in schema ? [schema.const] : null)
  return (
    schema.$ref?.split('/').at(-1) ??
    choices?.map(String).join('|') ??
    oneOf?.map(typeOf).join('|') ??
    allOf?.map(typeOf).join(' & ') ??
    (items && `${typeOf(items)}[]`) ??
    (properties && `{ ${members.join(', ')} }`) ??
    schema.format ??
    [schema.type ?? 'any'].flat().join('|')
  )
}
