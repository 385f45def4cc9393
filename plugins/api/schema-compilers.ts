import makeAjv, { type Ajv } from '@fastify/ajv-compiler'
import makeStringify from '@fastify/fast-json-stringify-compiler'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import fp from 'fastify-plugin'
import { isStorableTimeText } from '#src/http/times.ts'
import { onFirstUse } from '#src/runtime/lazy.ts'

type Validate = ReturnType<FastifySchemaCompiler<unknown>>
type Serialize = ReturnType<FastifySerializerCompiler<unknown>>

// Unknown fields are rejected, not removed; strings are not converted to numbers. All errors are
// reported: a body has at most 256 KiB, and only the first errors are read (src/http/validation.ts).
const customOptions = { removeAdditional: false, coerceTypes: false, allErrors: true } as const
const ajv = onFirstUse(() => makeAjv()({}, { customOptions, onCreate: limitTimes }))
const stringify = onFirstUse(() => makeStringify()())
const serializers = new Map<string, Serialize>()

/**
 * Compiles each schema on first use, once per process. There are about 170 request and 700 response
 * schemas; compiling all of them took most of the time to build the server. A test compiles every
 * schema.
 */
export default fp(
  async function schemaCompilers(app) {
    app.setValidatorCompiler(compileValidator)
    app.setSerializerCompiler(compileSerializer)
  },
  { name: 'schema-compilers', fastify: '5.x' },
)

/** A request's `date-time` and `date` must also be one that the database can store: there is no year 0. */
function limitTimes(ajv: Ajv): void {
  const standard = Object(ajv.formats['date-time'])
  ajv.addFormat('date-time', (text) => standard.validate(text) && isStorableTimeText(text))
  const date = Object(ajv.formats.date)
  ajv.addFormat('date', (text) => date.validate(text) && !text.startsWith('0000'))
}

/** For requests. */
const compileValidator: FastifySchemaCompiler<object> = ({ schema }) => {
  let check: Validate | undefined
  const validate: Validate = (data: unknown) => {
    check ??= ajv()({ schema })
    const valid = check(data) === true
    validate.errors = check.errors ?? null
    return valid
  }
  return validate
}

/** For responses. Most are problems, so only about 50 are distinct. */
const compileSerializer: FastifySerializerCompiler<object> = (answer) => {
  let serialize: Serialize | undefined
  return (data) => {
    serialize ??= serializerOf(answer)
    return serialize(data)
  }
}

function serializerOf(answer: Parameters<FastifySerializerCompiler<object>>[0]): Serialize {
  const key = JSON.stringify(answer.schema)
  const serialize = serializers.get(key) ?? stringify()({ httpStatus: '', ...answer })
  serializers.set(key, serialize)
  return serialize
}
