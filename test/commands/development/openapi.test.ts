import t from 'tap'
import { build } from '#test/support/app/app.ts'
import { runProgram } from '#test/support/processes/program.ts'

t.test('openapi prints the same document as a server, without a database', async (t) => {
  const program = await runProgram(t, ['openapi'], {
    NODE_ENV: 'production',
    BASE_URL: 'http://localhost:3000',
  })
  t.equal(await program.ended, 0)
  const { app } = await build(t)
  const description = (await app.inject('/openapi.json')).json()
  t.same(JSON.parse(program.output()), description)
})
