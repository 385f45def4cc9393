import t, { type Test } from 'tap'
import {
  createDatabase,
  createTestInvoice,
  createUser,
  signIn,
  type TestUser,
  testConfig,
  testSettings,
} from '#test/helper.ts'
import { addresses, runProgram } from '#test/program.ts'

/*
 * Two web processes on one database. Whatever changes, by whomever, the very next request in each
 * of them is judged by it: nothing that decides is kept in a process.
 */

t.test('a role and a department that change are those of the next request', async (t) => {
  const { database, member, everywhere } = await serveTwice(t)
  const { user, path, credentials } = await member({ role: 'admin', department: 'sales' })
  for (const headers of credentials) {
    const before = { role: 'admin', department: 'sales' }
    t.match(await everywhere('/me', headers), [before, before], 'at first')
    t.match(await everywhere('/audit', headers), [{ status: 200 }, { status: 200 }])
  }
  await database.admin.query(
    `UPDATE memberships SET role = 'viewer', department = 'support' WHERE user_id = $1`,
    [user.userId],
  )
  for (const headers of credentials) {
    const after = { role: 'viewer', department: 'support', permissions: ['post:read'] }
    t.match(await everywhere('/me', headers), [after, after])
    t.match(await everywhere('/audit', headers), [{ status: 403 }, { status: 403 }])
    t.match(await everywhere(path, headers), [{ status: 200 }, { status: 200 }])
  }
})

t.test('whoever is removed from the tenant is out with the next request', async (t) => {
  const { database, member, everywhere } = await serveTwice(t)
  const { user, path, credentials } = await member({ role: 'admin' })
  for (const headers of credentials) {
    t.match(await everywhere(path, headers), [{ status: 200 }, { status: 200 }], 'at first')
  }
  await database.admin.query('DELETE FROM memberships WHERE user_id = $1', [user.userId])
  for (const headers of credentials) {
    t.match(await everywhere(path, headers), [{ status: 401 }, { status: 401 }])
  }
})

t.test('a session ended through one process is ended in the other', async (t) => {
  const { origins, member, everywhere } = await serveTwice(t)
  const { credentials, path, user, newSession } = await member({ role: 'viewer' })
  const [cookie = {}] = credentials
  const other = await newSession(user)
  t.match(await everywhere(path, other), [{ status: 200 }, { status: 200 }], 'at first')
  const ended = await fetch(`${origins[0]}/auth/sessions`, { method: 'DELETE', headers: cookie })
  t.equal(ended.status, 204, 'all others, from here')
  t.match(await everywhere(path, other), [{ status: 401 }, { status: 401 }])
  t.match(await everywhere(path, cookie), [{ status: 200 }, { status: 200 }])
  const out = await fetch(`${origins[1]}/auth/logout`, {
    method: 'POST',
    headers: { ...cookie, accept: 'application/json' },
  })
  t.equal(out.status, 204)
  t.match(await everywhere(path, cookie), [{ status: 401 }, { status: 401 }])
})

type Headers = Record<string, string>

async function serveTwice(t: Test) {
  const database = await createDatabase(t)
  const env = { ...testSettings(database), ROLE: 'web', LOG_LEVEL: 'info' }
  const programs = await Promise.all([runProgram(t, ['serve'], env), runProgram(t, ['serve'], env)])
  const origins = await Promise.all(
    programs.map(async (program) => (await addresses(program)).address),
  )
  const newSession = async (user: TestUser): Promise<Headers> => {
    const { cookie } = await signIn({ config: testConfig(database), database }, user)
    return { cookie }
  }
  return {
    database,
    origins,
    /** Somebody in a tenant with an invoice at `path`, by session and by token. */
    async member(facts: { role: string; department?: string }) {
      const user = await createUser(database, facts)
      const path = `/invoices/${await createTestInvoice(database, user.tenantId)}`
      const session = await newSession(user)
      const token = await makeToken(origins[0] ?? '', session)
      return { user, path, newSession, credentials: [session, token] }
    },
    /** What each process answers: the status and the members of the body. */
    everywhere: (path: string, headers: Headers) =>
      Promise.all(
        origins.map(async (origin) => {
          const answer = await fetch(`${origin}${path}`, { headers })
          return { ...((await answer.json()) as object), status: answer.status }
        }),
      ),
  }
}

async function makeToken(origin: string, session: Headers): Promise<Headers> {
  const answer = await fetch(`${origin}/auth/tokens`, {
    method: 'POST',
    headers: { ...session, 'content-type': 'application/json' },
    body: '{"name":"test"}',
  })
  const { token } = (await answer.json()) as { token: string }
  return { authorization: `Bearer ${token}` }
}
