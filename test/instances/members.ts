import type { Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { createTestInvoice } from '#test/support/callers/objects.ts'
import type { Headers, Instances } from './instances.ts'

/*
 * Every change takes effect with the next request in each process, because no process caches what
 * decides about access.
 */

/** A change of role and department takes effect with the next request. */
export async function changeRole(t: Test, instances: Instances): Promise<void> {
  const { user, path, credentials } = await member(instances, {
    role: 'admin',
    department: 'sales',
  })
  const everywhere = askBoth(instances)
  for (const headers of credentials) {
    const before = { role: 'admin', department: 'sales' }
    t.match(await everywhere('/me', headers), [before, before], 'at first')
    t.match(await everywhere('/audit', headers), [{ status: 200 }, { status: 200 }])
  }
  await instances.database.admin.query(
    `UPDATE memberships SET role = 'viewer', department = 'support' WHERE user_id = $1`,
    [user.userId],
  )
  for (const headers of credentials) {
    const after = { role: 'viewer', department: 'support', permissions: ['post:read'] }
    t.match(await everywhere('/me', headers), [after, after])
    t.match(await everywhere('/audit', headers), [{ status: 403 }, { status: 403 }])
    t.match(await everywhere(path, headers), [{ status: 200 }, { status: 200 }])
  }
}

/** A removed member loses access with the next request. */
export async function removeMember(t: Test, instances: Instances): Promise<void> {
  const { user, path, credentials } = await member(instances, { role: 'admin' })
  const everywhere = askBoth(instances)
  for (const headers of credentials) {
    t.match(await everywhere(path, headers), [{ status: 200 }, { status: 200 }], 'at first')
  }
  await instances.database.admin.query('DELETE FROM memberships WHERE user_id = $1', [user.userId])
  for (const headers of credentials) {
    t.match(await everywhere(path, headers), [{ status: 401 }, { status: 401 }])
  }
}

/** A session that is ended in one process is ended in the other; so are all other sessions at once. */
export async function endSessions(t: Test, instances: Instances): Promise<void> {
  const { ask, newSession } = instances
  const { credentials, path, user } = await member(instances, { role: 'viewer' })
  const everywhere = askBoth(instances)
  const [cookie = {}] = credentials
  const others = [await newSession(user), await newSession(user)]
  for (const other of others) {
    t.match(await everywhere(path, other), [{ status: 200 }, { status: 200 }], 'at first')
  }
  const ended = await ask(0, '/auth/sessions', { method: 'DELETE', headers: cookie })
  t.equal(ended.status, 204, 'all others, from here')
  for (const other of others) {
    t.match(await everywhere(path, other), [{ status: 401 }, { status: 401 }])
  }
  t.match(await everywhere(path, cookie), [{ status: 200 }, { status: 200 }])
  const headers = { ...cookie, accept: 'application/json' }
  t.equal((await ask(1, '/auth/logout', { method: 'POST', headers })).status, 204)
  t.match(await everywhere(path, cookie), [{ status: 401 }, { status: 401 }])
}

/** A member of a tenant with an invoice at `path`, with a session and a token. */
async function member(instances: Instances, facts: { role: string; department?: string }) {
  const { database, newSession } = instances
  const user: TestUser = await createUser(database, facts)
  const path = `/invoices/${await createTestInvoice(database, user.tenantId)}`
  const session = await newSession(user)
  return { user, path, credentials: [session, await makeToken(instances, session)] }
}

/** The response of each process: status and body. */
function askBoth({ ask }: Instances) {
  return (path: string, headers: Headers) =>
    Promise.all(
      ([0, 1] as const).map(async (web) => {
        const answer = await ask(web, path, { headers })
        return { ...((await answer.json()) as object), status: answer.status }
      }),
    )
}

async function makeToken({ ask }: Instances, session: Headers): Promise<Headers> {
  const answer = await ask(0, '/auth/tokens', {
    method: 'POST',
    headers: { ...session, 'content-type': 'application/json' },
    body: '{"name":"test","permissions":null}',
  })
  const { token } = (await answer.json()) as { token: string }
  return { authorization: `Bearer ${token}` }
}
