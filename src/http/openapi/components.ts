import type { Answer, ApiDescription, Media, Operation, Reference, Schema } from './examples.ts'

const prefix = '#/components/schemas/'

/** Two parts of the description have one name. */
export class NameTaken extends Error {
  readonly taken: string

  constructor(kind: 'schema' | 'operation', taken: string) {
    super(`Two different ${kind}s have the name ${taken}.`)
    this.name = 'NameTaken'
    this.taken = taken
  }
}

/** @throws NameTaken for two operations with one name, of which a client would have one */
export function requireDistinctOperations({ paths }: ApiDescription): void {
  const known = new Set<string>()
  for (const { operationId } of Object.values(paths).flatMap((one) => Object.values(one))) {
    if (operationId === undefined) continue
    if (known.has(operationId)) throw new NameTaken('operation', operationId)
    known.add(operationId)
  }
}

export function referenceTo(name: string): Schema {
  return { $ref: `${prefix}${name}` }
}

/**
 * Makes every schema with a title a component of that name, and refers to it where it was. What it means
 * there (`means`) is beside the reference, and beside null if the value may be null.
 * @throws NameTaken if two different schemas have the same title
 */
export function nameSchemas(description: ApiDescription): ApiDescription {
  const { components, webhooks } = description
  const schemas = new Map<string, Schema>()

  function name(schema: Schema): Schema {
    const { title, $comment, description, ...inner } = mapInner(schema, name)
    if (title === undefined) return withMeaning(described(inner, description))
    const { description: known, ...before }: Schema = schemas.get(title) ?? inner
    // A parameter has the description of its schema, which has none then.
    const words = known ?? description
    const isSame = JSON.stringify(before) === JSON.stringify(inner)
    if (!isSame || (description ?? words) !== words) {
      throw new NameTaken('schema', title)
    }
    schemas.set(title, described(inner, words))
    return described(referenceTo(title), $comment)
  }

  const named = {
    paths: mapOperations(description.paths, name),
    ...(webhooks && { webhooks: mapOperations(webhooks, name) }),
  }
  const responses = mapValues(components?.responses ?? {}, (answer) => mapAnswer(answer, name))
  for (const [title, schema] of Object.entries(components?.schemas ?? {})) {
    name({ ...schema, title })
  }
  const sorted = [...schemas].sort(([one], [other]) => one.localeCompare(other, 'en'))
  return {
    ...description,
    ...named,
    components: { ...components, schemas: Object.fromEntries(sorted), responses },
  }
}

/** The same description with every schema where it is used. */
export function inlineSchemas(description: ApiDescription): ApiDescription {
  const { components, webhooks } = description
  const schemas = components?.schemas ?? {}
  const inlined = new Map<string, Schema>()

  function inline(schema: Schema): Schema {
    const { $ref, ...beside } = schema
    if ($ref === undefined) return mapInner(schema, inline)
    return { ...component($ref), ...beside }
  }

  function component($ref: string): Schema {
    const title = $ref.slice(prefix.length)
    const known = inlined.get(title)
    if (known !== undefined) return known
    const found = schemas[title]
    if (found === undefined) throw new Error(`The description has no ${$ref}.`)
    const whole = { title, ...mapInner(found, inline) }
    inlined.set(title, whole)
    return whole
  }

  return {
    ...description,
    paths: mapOperations(description.paths, inline),
    ...(webhooks && { webhooks: mapOperations(webhooks, inline) }),
    components: {
      ...components,
      responses: mapValues(components?.responses ?? {}, (answer) => mapAnswer(answer, inline)),
    },
  }
}

function described(schema: Schema, description: string | undefined): Schema {
  return description === undefined ? schema : { description, ...schema }
}

/** A value that may be null has the meaning of its schema. */
function withMeaning(schema: Schema): Schema {
  const [first = {}, second, ...others] = schema.anyOf ?? []
  const { description, ...value } = first
  if (second?.type !== 'null' || others.length > 0 || description === undefined) return schema
  return described({ ...schema, anyOf: [value, second] }, schema.description ?? description)
}

type Change = (schema: Schema) => Schema

/** Changes every schema of an operation, the outer ones only. */
export function mapSchemas(operation: Operation, change: Change): Operation {
  const { parameters, requestBody, responses } = operation
  return {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((one) => ({ ...one, schema: change(one.schema) })),
    }),
    ...(requestBody && {
      requestBody: { ...requestBody, content: mapContent(requestBody.content, change) },
    }),
    responses: mapValues(responses, (answer) => mapAnswer(answer, change)),
  }
}

/** Changes the schemas that a schema consists of. */
export function mapInner(schema: Schema, change: Change): Schema {
  const { properties, items, allOf, anyOf, oneOf } = schema
  return {
    ...schema,
    ...(properties && { properties: mapValues(properties, change) }),
    ...(items && { items: change(items) }),
    ...(allOf && { allOf: allOf.map(change) }),
    ...(anyOf && { anyOf: anyOf.map(change) }),
    // Names of required fields that exclude each other are no schemas of their own.
    ...(oneOf && properties === undefined && { oneOf: oneOf.map(change) }),
  }
}

function mapOperations(
  paths: ApiDescription['paths'],
  change: Change,
): Record<string, Record<string, Operation>> {
  return mapValues(paths, (path) => mapValues(path, (operation) => mapSchemas(operation, change)))
}

function mapAnswer<One extends Answer | Reference>(answer: One, change: Change): One {
  if ('$ref' in answer || answer.content === undefined) return answer
  return { ...answer, content: mapContent(answer.content, change) }
}

function mapContent(content: Record<string, Media>, change: Change): Record<string, Media> {
  return mapValues(content, (media) => ({ ...media, schema: change(media.schema) }))
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}
