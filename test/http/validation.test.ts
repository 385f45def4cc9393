import makeAjv from '@fastify/ajv-compiler'
import t from 'tap'
import Type, { type TSchema } from 'typebox'
import { Id, Line, NoBody, Nullable, Text, Time, Uuid } from '#src/http/schemas.ts'
import { describeErrors, toFieldErrors } from '#src/http/validation.ts'

const compile = makeAjv()(
  {},
  { customOptions: { allErrors: true, coerceTypes: false, removeAdditional: false } },
)

/** The texts for a value that the schema refuses, by pointer. */
function textsOf(schema: TSchema, value: unknown): Record<string, string> {
  const validate = compile({ schema })
  if (validate(value) !== false) throw new Error(`${JSON.stringify(value)} is valid`)
  const errors = toFieldErrors('body', validate.errors ?? [])
  return Object.fromEntries(errors.map(({ pointer, detail }) => [pointer, detail]))
}

const closed = { additionalProperties: false }

t.test('every keyword has a text in plain English', async (t) => {
  const cases: readonly (readonly [TSchema, unknown, string])[] = [
    [Type.String(), 1, 'must be a string'],
    [Type.Integer(), 1.5, 'must be a whole number'],
    [Type.Number(), 'x', 'must be a number'],
    [Type.Boolean(), 'x', 'must be true or false'],
    [Type.Array(Type.String()), {}, 'must be a list'],
    [Type.Object({}), [], 'must be an object'],
    [Type.String({ minLength: 1 }), '', 'must not be empty'],
    [Type.String({ minLength: 3 }), 'ab', 'must have at least 3 characters'],
    [Type.String({ maxLength: 3 }), 'abcd', 'must have at most 3 characters'],
    [Type.Array(Type.String(), { minItems: 1 }), [], 'must have at least one item'],
    [Type.Array(Type.String(), { maxItems: 2 }), ['a', 'b', 'c'], 'must have at most 2 items'],
    [
      Type.Array(Type.String(), { uniqueItems: true }),
      ['a', 'a'],
      'must not have the same item twice',
    ],
    [Type.Object({}, { minProperties: 1 }), {}, 'must have at least one field'],
    [Id, 0, 'must be at least 1'],
    [Type.Integer({ maximum: 5 }), 6, 'must be at most 5'],
    [Type.Enum(['asc', 'desc']), 'up', 'must be one of asc, desc'],
    [Type.Literal('yes'), 'no', 'must be yes'],
    [Uuid, 'x', 'must be a UUID in lower case'],
    [Time, 'yesterday', 'must be a time such as 2026-01-31T09:00:00Z (RFC 3339)'],
    [Type.String({ format: 'email' }), 'x', 'must be an email address'],
    [Line(9), ' ', 'must be one line that is not blank, without control or hidden characters'],
    [Text(9), ' ', 'must not be blank, and must have no NUL and no lone surrogates'],
    [Type.String({ pattern: '^[a-f]{2}$' }), 'x', 'must match ^[a-f]{2}$'],
    [Type.String({ pattern: `^${'x?'.repeat(40)}$` }), 'y', 'does not have the required form'],
    [Type.Object({}, { not: { required: ['a'] } }), { a: 1 }, 'has fields that exclude each other'],
  ]
  for (const [schema, value, text] of cases) t.same(textsOf(schema, value), { '': text }, text)
})

t.test('a query parameter that is there twice is named as such', async (t) => {
  const validate = compile({ schema: Type.Object({ limit: Type.String() }) })
  t.notOk(validate({ limit: ['1', '2'] }))
  const errors = toFieldErrors('query', validate.errors ?? [])
  t.same(errors, [{ in: 'query', pointer: '/limit', detail: 'must be given only once' }])
})

t.test('null as an alternative is part of the text, not an error of its own', async (t) => {
  t.same(textsOf(Nullable(Type.String()), 5), { '': 'must be a string or null' })
  t.same(textsOf(Nullable(Line(3)), 'abcd'), { '': 'must have at most 3 characters' })
  t.same(textsOf(NoBody, { extra: 1 }), { '/extra': 'is not a known field' })
  const nested = Type.Object({ a: Nullable(Type.Object({ b: Type.Integer() }, closed)) }, closed)
  t.same(textsOf(nested, { a: { b: 'x', c: 1 } }), {
    '/a/c': 'is not a known field',
    '/a/b': 'must be a whole number',
  })
})

t.test('alternatives of constants are one list of values', async (t) => {
  const choice = Type.Union([Type.Literal('a'), Type.Literal('b')])
  t.same(textsOf(choice, 'c'), { '': 'must be one of a, b' })
})

t.test('a filter that may be left empty names what it accepts', async (t) => {
  const filter = Type.Union([Type.Literal(''), Type.Enum(['open', 'paid'])])
  t.same(textsOf(filter, 'x'), { '': 'must be one of open, paid' })
  const from = Type.Union([Type.Literal(''), Type.String({ format: 'date' })])
  t.same(textsOf(from, 'x'), { '': 'must be a date of the calendar such as 2026-01-31' })
})

t.test('alternatives of required fields name the fields', async (t) => {
  const fields = { team: Type.Optional(Type.Integer()), parent: Type.Optional(Type.Integer()) }
  const schema = Type.Object(fields, {
    oneOf: [{ required: ['team'] }, { required: ['parent'] }],
  })
  t.same(textsOf(schema, {}), { '': 'must have exactly one of team, parent' })
  t.same(textsOf(schema, { team: 1, parent: 2 }), { '': 'has fields that exclude each other' })
})

t.test('a pointer is escaped, and cut if the client chose a long name', async (t) => {
  const schema = Type.Object({}, closed)
  t.same(Object.keys(textsOf(schema, { 'a/b~c': 1 })), ['/a~1b~0c'])
  const [pointer = ''] = Object.keys(textsOf(schema, { ['x'.repeat(10_000)]: 1 }))
  t.equal(pointer.length, 201)
})

t.test('one sentence describes the errors', async (t) => {
  const error = { in: 'query', pointer: '/limit', detail: 'must be a number' } as const
  t.equal(describeErrors([]), undefined)
  t.equal(describeErrors([error]), '/limit in the query must be a number.')
  t.equal(
    describeErrors([error, error]),
    '/limit in the query must be a number. The other error is in `errors`.',
  )
})
