import makeAjv from '@fastify/ajv-compiler'
import makeStringify from '@fastify/fast-json-stringify-compiler'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import fp from 'fastify-plugin'
import { onFirstUse } from '#src/runtime/lazy.ts'

type Validate = ReturnType<FastifySchemaCompiler<unknown>>
type Serialize = ReturnType<FastifySerializerCompiler<unknown>>

// Unknown fields are refused, never dropped; a number is a number, never a string of one.
const customOptions = { removeAdditional: false, coerceTypes: false, allErrors: false } as const
const ajv = onFirstUse(() => makeAjv()({}, { customOptions }))
const stringify = onFirstUse(() => makeStringify()())
const serializers = new Map<string, Serialize>()

/**
 * A schema is compiled when the first request needs it, and once in a process: of some 170 for
 * requests and 700 for answers most are not needed for long, and compiling them all was most of
 * what it took to build the server. That each of them compiles is tested.
 */
export default fp(
  async function schemaCompilers(app) {
    app.setValidatorCompiler(compileValidator)
    app.setSerializerCompiler(compileSerializer)
  },
  { name: 'schema-compilers', fastify: '5.x' },
)

/** For what requests bring. */
const compileValidator: FastifySchemaCompiler<object> = ({ schema }) => {
  const compiled = onFirstUse(() => ajv()({ schema }))
  const validate: Validate = (data: unknown) => {
    const check = compiled()
    const valid = check(data) === true
    validate.errors = check.errors ?? null
    return valid
  }
  return validate
}

/** For answers: most are problems, and only some 50 differ. */
const compileSerializer: FastifySerializerCompiler<object> = (answer) => {
  const compiled = onFirstUse(() => {
    const key = JSON.stringify(answer.schema)
    const serialize = serializers.get(key) ?? stringify()({ httpStatus: '', ...answer })
    serializers.set(key, serialize)
    return serialize
  })
  return (data) => compiled()(data)
}
