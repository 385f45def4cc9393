import { once } from 'node:events'
import { createServer } from 'node:http'
import t from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { runProgram } from '#test/support/processes/program.ts'

t.test('health exits with 0 for a ready process, otherwise with 1 and the reason', async (t) => {
  let answer = { code: 200, body: '{"status":"ready"}' }
  const server = createServer((_request, response) => {
    response.writeHead(answer.code, { 'content-type': 'application/json' }).end(answer.body)
  })
  // A port that the system gives to nobody after the server has closed.
  const port = await findFreePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const run = async (...args: string[]) => {
    const program = await runProgram(t, ['health', ...args], { ADMIN_PORT: String(port) })
    return { status: await program.ended, output: program.results(), told: program.messages() }
  }
  t.same(await run(), { status: 0, output: 'ready\n', told: '' })
  answer = { code: 503, body: '{"status":"not ready","failing":["database","tenant lock"]}' }
  t.match(await run(), { status: 1, output: '', told: /Not ready: database, tenant lock\./ })
  const told = await run('--json')
  t.equal(told.status, 1)
  t.match(JSON.parse(told.output), { status: 'not ready', failing: ['database', 'tenant lock'] })
  answer = { code: 502, body: 'not ours' }
  t.match(await run(), { status: 1, told: /responded with 502/ })
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  t.match(await run(), { status: 1, told: /Nothing answers at http:\/\/127\.0\.0\.1:\d+\/readyz/ })
  const wrong = await runProgram(t, ['health'], { ADMIN_PORT: 'many' })
  t.equal(await wrong.ended, 1)
  t.match(wrong.messages(), /ADMIN_PORT: must be integer/)
})
