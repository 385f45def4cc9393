import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings'
import { ApiError } from '#clients/typescript/src/api-error.ts'
import { unwrap } from '#clients/typescript/src/client.ts'
import type { ApiDescription, Operation, Parameter, Schema } from '#src/http/openapi/examples.ts'
import type { Sources } from '../kit/environment.ts'
import { printJson } from '../kit/output.ts'
import { openApi, send } from './api-client.ts'

type Place = 'path' | 'query' | 'header' | 'body'
type Field = Pick<Parameter, 'name' | 'schema'> & {
  readonly in: Place
  readonly required?: boolean | undefined
  readonly description?: string | undefined
}
type Init = { params: Record<Exclude<Place, 'body'>, Record<string, unknown>>; body?: object }
type Send = (method: string, path: string, init: Init) => Promise<void>
type Call = (...request: Parameters<Send>) => Promise<{ data?: unknown; response: Response }>

/**
 * The operations of a running instance that a token can call, each as a command: its path's parameters are
 * arguments, everything else is an option. The instance describes them, so that those of its app are among
 * them. Each prints the JSON of the response.
 * @throws ConfigError if the token or the address is missing or wrong
 */
export async function operationsOf(
  sources: Sources,
  signal?: AbortSignal,
): Promise<CommandUnknownOpts[]> {
  const { api, baseUrl } = await openApi(sources)
  const response = await send(new Request(`${baseUrl}/openapi.json`), signal)
  if (!response.ok) throw new ApiError(response, null)
  // What it says of its operations is checked by itself when they are called.
  const description = (await response.json()) as ApiDescription
  // The types of `request` allow only the paths that the client knows.
  const request = api.request as unknown as Call
  return commandsOf(description, async (method, path, init) => {
    const data = unwrap(await request(method, path, init))
    if (data !== undefined) printJson(data)
  })
}

function commandsOf(description: ApiDescription, send: Send): CommandUnknownOpts[] {
  const { schemas = {} } = description.components ?? {}
  const resolve = ({ $ref, ...schema }: Schema): Schema =>
    $ref === undefined ? schema : (schemas[$ref.replace('#/components/schemas/', '')] ?? {})
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security = [] }]) => security.some((way) => 'token' in way))
      .map(([method, operation]) =>
        commandOf(operation, fieldsOf(operation, resolve), (init) => send(method, path, init)),
      ),
  )
}

function fieldsOf(
  { parameters = [], requestBody }: Operation,
  resolve: (schema: Schema) => Schema,
): Field[] {
  const body = resolve(requestBody?.content['application/json']?.schema ?? {})
  const ofBody = Object.entries(body.properties ?? {}).map(([name, schema]) => ({
    ...{ name, in: 'body' as const, schema: resolve(schema), description: schema.description },
    required: body.required?.includes(name),
  }))
  const others = parameters.map((one) => ({ ...one, schema: resolve(one.schema) }) as Field)
  return [...others, ...ofBody]
}

function commandOf(
  { operationId = '', tags = [], summary = '', description = '', requestBody }: Operation,
  fields: readonly Field[],
  send: (init: Init) => Promise<void>,
): CommandUnknownOpts {
  const command = new Command(dashed(operationId))
    .summary(summary)
    .description(description === '' ? summary : `${summary}.\n\n${description}`)
    .helpGroup(`${tags[0] ?? 'others'}:`)
  const inPath = fields.filter((field) => field.in === 'path')
  for (const { name, description } of inPath) command.argument(`<${dashed(name)}>`, description)
  const options = fields
    .filter((field) => field.in !== 'path')
    .map((field) => {
      const option = optionOf(field)
      command.addOption(option)
      if (option.isBoolean()) command.option(`--no-${dashed(field.name)}`)
      return { field, key: option.attributeName() }
    })
  return command.action(async () => {
    const given: Readonly<Record<string, unknown>> = command.opts()
    const valuesIn = (place: Place) =>
      Object.fromEntries(
        options
          .filter(({ field, key }) => field.in === place && given[key] !== undefined)
          .map(({ field, key }) => [field.name, given[key] === none ? null : given[key]]),
      )
    const path = Object.fromEntries(inPath.map(({ name }, index) => [name, command.args[index]]))
    const header = valuesIn('header')
    // What creates something can be retried.
    if (fields.some(({ name }) => name === keyHeader)) header[keyHeader] ??= crypto.randomUUID()
    const body = valuesIn('body')
    const hasBody = requestBody?.required || Object.keys(body).length > 0
    await send({ params: { path, query: valuesIn('query'), header }, ...(hasBody && { body }) })
  })
}

const keyHeader = 'idempotency-key'
// Commander makes an empty text of null.
const none = Symbol('null')

/** Texts and lists of texts are written as they are, everything else as JSON; `null` is null where it is allowed. */
function optionOf({ name, description = '', required = false, schema }: Field): Option {
  const isNull = ({ type }: Schema) => type === 'null'
  const [one = schema] = schema.anyOf?.filter((other) => !isNull(other)) ?? []
  const isNullable = schema.anyOf?.some(isNull) ?? false
  const isList = one.type === 'array' && isText(one.items ?? {})
  const flag = `--${dashed(name)}`
  if (one.type === 'boolean' && !isNullable) return new Option(flag, description)
  const value = isList ? ' <text...>' : isText(one) ? ' <text>' : ' <json>'
  const option = new Option(flag + value, description).makeOptionMandatory(required)
  const choices = (isList ? one.items : one)?.enum
  if (choices !== undefined && !isNullable) return option.choices(choices.map(String))
  return option.argParser((text: string, before: unknown) => {
    if (isNullable && text === 'null') return none
    if (isList) return [...(Array.isArray(before) ? before : []), text]
    return isText(one) ? text : (readJson(text) ?? none)
  })
}

function isText({ type, enum: values }: Schema): boolean {
  return type === 'string' || (values?.every((one) => typeof one === 'string') ?? false)
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidArgumentError('It must be JSON.')
  }
}

/** The name of an operation or a field as it is typed: `rotateWebhookEndpointSecret` with hyphens. */
function dashed(name: string): string {
  return name.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
