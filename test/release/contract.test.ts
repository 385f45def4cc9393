import { readFile } from 'node:fs/promises'
import t from 'tap'
import { contractDigest } from '#dev/release/contract.ts'
import { describeApi } from '#src/commands/development/openapi.ts'

t.test('docs/contract.txt is the API in short (npm run generate)', async (t) => {
  const digest = await readFile(new URL('../../docs/contract.txt', import.meta.url), 'utf8')
  t.equal(contractDigest(await describeApi({})), digest, 'as npm run generate writes it')
})

t.test('a change that callers see changes the digest', async (t) => {
  const api = {
    info: { title: '', version: '' },
    paths: {
      '/things': {
        post: {
          operationId: 'createThing',
          parameters: [{ name: 'if-match', in: 'header', schema: {} }],
          requestBody: { content: { 'application/json': { schema: { $ref: '#/a/New' } } } },
          responses: {
            201: {
              description: '',
              content: { 'application/json': { schema: { $ref: '#/a/T' } } },
            },
            404: { $ref: '#/components/responses/NotFound' },
          },
        },
      },
    },
    components: {
      responses: {
        NotFound: {
          description: '',
          content: { 'application/problem+json': { schema: { $ref: '#/a/NotFoundProblem' } } },
        },
      },
      schemas: {
        T: {
          properties: {
            id: { type: 'integer' },
            at: { anyOf: [{ format: 'date' }, { type: 'null' }] },
          },
          required: ['id'],
        },
        State: { enum: ['on', 'off'] },
      },
    },
  }
  const [, operations, , schemas] = contractDigest(api).split('\n\n')
  t.equal(operations, 'POST /things createThing (if-match?) New? -> 201 T, 404 NotFound')
  t.equal(schemas, 'State: on|off\nT: { id integer, at? date|null }\n')
})
