/** The parts of an OpenAPI 3.1 document that this program writes and reads. */
export type ApiDescription = {
  info: { title: string; version: string; description?: string }
  servers?: readonly { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components?: Components
}

export type Components = {
  schemas?: Record<string, Schema>
  responses?: Record<string, Answer>
  securitySchemes?: Record<string, object>
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

export type Answer = {
  description: string
  headers?: Record<string, { description: string; schema: Schema }>
  content?: Record<string, Media>
}

export type Media = { schema: Schema | Reference; example?: unknown }

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
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  examples?: readonly unknown[]
}

/** The answer itself, also where it is kept among the components. */
export function answerOf({ components }: ApiDescription, answer: Answer | Reference): Answer {
  if (!('$ref' in answer)) return answer
  const found = components?.responses?.[answer.$ref.replace('#/components/responses/', '')]
  if (found === undefined) throw new Error(`The description has no ${answer.$ref}.`)
  return found
}
