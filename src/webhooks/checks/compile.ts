import makeAjv from '@fastify/ajv-compiler'
import type { FieldError } from '#src/http/problems.ts'
import { type KeywordError, toFieldErrors } from '#src/http/validation.ts'

/** Says whether a value matches a schema; if not, `errors` says why. */
export type Validate = ((data: unknown) => unknown) & { errors?: readonly KeywordError[] | null }

// Apps write these schemas: unusual keywords are not logged, unknown ones are refused. All errors are
// reported, and nothing is changed or filled in.
const options = {
  customOptions: {
    removeAdditional: false,
    coerceTypes: false,
    allErrors: true,
    useDefaults: false,
    logger: false,
    strictTypes: false,
    strictTuples: false,
  },
} as const

/**
 * Compiles the JSON Schema of an event type, with an instance of its own, so that two schemas may have one
 * $id and the memory of each is freed with it.
 * @throws if it is not a JSON Schema (draft 7) that can be used
 */
export function compileSchema(schema: unknown): Validate {
  const validate = Object(makeAjv()({}, options)({ schema, method: '', url: '' }))
  // Of Ajv, not of JSON Schema: the check would return a promise that rejects.
  if (validate.$async) throw new Error('$async is not a keyword of draft 7')
  return validate
}

/** Every fault of `data`, which is at `pointer` in the body of the request. */
export function faultsOf(validate: Validate, data: unknown, pointer: string): FieldError[] {
  if (validate(data) === true) return []
  const errors = validate.errors ?? []
  return toFieldErrors(
    'body',
    errors.map((error) => ({ ...error, instancePath: `${pointer}${error.instancePath}` })),
  )
}
