import t from 'tap'
import { build } from '#test/support/helper.ts'
import { runProgram } from '#test/support/program.ts'

t.test('openapi prints the same document as a server, without a database', async (t) => {
  const program = await runProgram(t, ['openapi'], {
    NODE_ENV: 'production',
    BASE_URL: 'http://localhost:3000',
  })
  t.equal(await program.ended, 0)
  const { app } = await build(t)
  t.same(JSON.parse(program.output()), (await app.inject('/openapi.json')).json())
})
