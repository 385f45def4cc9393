import t from 'tap'
import { as } from '#dev/testing/people.ts'
import { maxAppTokens } from '#src/auth/tokens/app-tokens.ts'
import { build } from '#test/support/app/app.ts'
import { addAppToken } from '#test/support/callers/app-caller.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { auditTrail } from '#test/support/provider/sign-in-journey.ts'

t.test('app tokens are created, listed, rotated and revoked by commands', async (t) => {
  const test = await build(t)
  const { database } = test
  const run = async (args: readonly string[], url = database.ownerUrl) => {
    const env = { NODE_ENV: 'production', DATABASE_OWNER_URL: url }
    const program = await runProgram(t, ['app-tokens', ...args], env)
    return { status: await program.ended, output: program.results(), told: program.messages() }
  }
  const make = ['create', 'backend', '--permissions', 'event-type:read', '--days', '30']
  const types = (token: string) =>
    as(test, { authorization: `Bearer ${token}` })('GET', '/event-types')
  const tokenIn = (output: string) => /gtha_[0-9A-Za-z]{49}/.exec(output)?.[0] ?? ''

  const created = await run(make)
  t.equal(created.status, 0, created.told)
  const token = tokenIn(created.output)
  t.equal((await types(token)).statusCode, 200)
  const [id = ''] = created.output.split(' ')
  const listed = await run(['list'])
  t.match(listed.output, `${id}  backend  gtha_…${token.slice(-4)}  event-type:read`)
  t.notMatch(listed.output, token)
  const [shown] = JSON.parse((await run(['list', '--json'])).output)
  t.match(shown, { id, createdBy: null, permissions: ['event-type:read'] })
  t.notOk('token' in shown || 'hash' in shown)
  const days = (Date.parse(shown.expiresAt) - Date.parse(shown.createdAt)) / 86_400_000
  t.equal(Math.round(days), 30)

  const rotated = await run(['rotate', id])
  const next = tokenIn(rotated.output)
  t.equal((await types(token)).statusCode, 401, 'the previous secret has ended')
  t.equal((await types(next)).statusCode, 200)
  t.match(await run(['revoke', id]), { status: 0, output: `${id} is revoked.\n` })
  t.equal((await types(next)).statusCode, 401)
  for (const action of ['rotate', 'revoke']) {
    t.match(await run([action, id]), { status: 1, told: 'no such app token' })
  }
  t.strictSame(await auditTrail(test), [
    'app-token-create done command',
    'app-token-rotate done command',
    'app-token-delete done command',
  ])

  for (const url of [database.url, database.workerUrl]) {
    const refused = await run(make, url)
    t.equal(refused.status, 1, 'no role of a running process')
    t.notMatch(refused.output, 'gtha_')
  }
  for (let count = 0; count < maxAppTokens; count += 1) await addAppToken(database)
  t.match(await run(make), { status: 1, told: 'which is the most' })
})
