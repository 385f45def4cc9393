import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { addSession, connect, enterSession } from '#test/db/credentials.ts'
import { build } from '#test/support/app/app.ts'
import { comparable, type Send, senderOf } from '#test/support/app/send.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { untilBlocked } from '#test/support/database/until.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

const fields = ['id', 'tenantId', 'name', 'createdAt', 'updatedAt']

t.test('an administrator creates, reads, lists, renames and deletes teams', async (t) => {
  const { admin, tenantId } = await office()
  const created = await admin('POST', '/teams', { name: 'Legal' })
  t.equal(created.statusCode, 201)
  const team = created.json()
  t.strictSame(Object.keys(team), fields)
  t.match(team, { tenantId, name: 'Legal' })
  const url = `/teams/${team.id}`
  t.strictSame((await admin('GET', url)).json(), team)
  t.strictSame((await admin('GET', '/teams?limit=1')).json().data, [team], 'newest first')
  const renamed = await admin('PATCH', url, { name: 'Law' })
  t.match(renamed.json(), { ...team, name: 'Law', updatedAt: String })
  t.equal((await admin('DELETE', url)).statusCode, 204)
  t.equal((await admin('DELETE', url)).statusCode, 404)
})

t.test('a team that owns folders cannot be deleted, a team with members only can', async (t) => {
  const { admin, chain, database } = await office()
  const owning = await admin('DELETE', `/teams/${chain.teamId}`)
  t.equal(owning.statusCode, 409)
  t.equal(owning.json().detail, 'The team still owns folders.')
  await database.admin.query('DELETE FROM documents; DELETE FROM folders')
  t.equal((await admin('DELETE', `/teams/${chain.teamId}`)).statusCode, 204)
  const { rows } = await database.admin.query('SELECT FROM team_members WHERE team_id = $1', [
    chain.teamId,
  ])
  t.equal(rows.length, 0)
})

t.test('members of a tenant are added to its teams and removed again', async (t) => {
  const { admin, colleague, member, chain } = await office()
  const members = `/teams/${chain.teamId}/members`
  const url = `${members}/${colleague.userId}`
  t.equal((await admin('GET', url)).statusCode, 404)
  for (const time of ['once', 'twice']) t.equal((await admin('PUT', url)).statusCode, 204, time)
  const read = await admin('GET', url)
  t.strictSame(Object.keys(read.json()), ['userId', 'createdAt'])
  t.equal(read.json().userId, colleague.userId)
  const first = (await admin('GET', `${members}?limit=1`)).json()
  const second = (await admin('GET', `${members}?limit=1&cursor=${first.nextCursor}`)).json()
  t.match([...first.data, ...second.data], [{ userId: member.userId }, read.json()])
  t.equal(second.nextCursor, null)
  t.equal((await admin('DELETE', url)).statusCode, 204)
  t.equal((await admin('DELETE', url)).statusCode, 404)
})

t.test('only members of the tenant can be added to its teams', async (t) => {
  const { admin, chain, stranger, foreign } = await office()
  const missing = comparable(await admin('GET', '/teams/987654321'))
  const attempts: Parameters<Send>[] = [
    ['PUT', `/teams/${chain.teamId}/members/${stranger.userId}`],
    ['PUT', `/teams/${chain.teamId}/members/987654321`],
    ['PUT', `/teams/${chain.teamId}/members/0`],
    ['PUT', `/teams/${foreign.teamId}/members/${stranger.userId}`],
    ['DELETE', `/teams/${foreign.teamId}/members/${stranger.userId}`],
    ['GET', `/teams/${foreign.teamId}/members/${stranger.userId}`],
    ['GET', `/teams/${foreign.teamId}/members`],
    ['GET', `/teams/${foreign.teamId}`],
    ['PATCH', `/teams/${foreign.teamId}`, { name: 'x' }],
    ['DELETE', `/teams/${foreign.teamId}`],
    ['PATCH', `/teams/${Number.MAX_SAFE_INTEGER}`, { name: 'x' }],
  ]
  for (const attempt of attempts) {
    t.strictSame(comparable(await admin(...attempt)), missing, attempt.join(' '))
  }
  const { data } = (await admin('GET', '/teams')).json()
  t.strictSame(
    data.map(({ id }: { id: number }) => id),
    [chain.teamId],
  )
})

t.test('removing a link of the chain ends access with the next request', async (t) => {
  const links: [string, (world: Office) => Promise<unknown>][] = [
    [
      'the member leaves the team',
      ({ admin, chain, member }) =>
        admin('DELETE', `/teams/${chain.teamId}/members/${member.userId}`),
    ],
    [
      'the folder is moved to another team',
      async ({ admin, chain }) => {
        const { id: teamId } = (await admin('POST', '/teams', { name: 'x' })).json()
        return admin('PATCH', `/folders/${chain.folderId}`, { teamId })
      },
    ],
    [
      'the folder is moved into a folder of another team',
      async ({ admin, chain }) => {
        const { id: teamId } = (await admin('POST', '/teams', { name: 'x' })).json()
        const { id: parentId } = (await admin('POST', '/folders', { name: 'x', teamId })).json()
        return admin('PATCH', `/folders/${chain.folderId}`, { parentId })
      },
    ],
  ]
  for (const [name, remove] of links) {
    const world = await office()
    const { asMember, chain } = world
    const url = `/documents/${chain.documentId}`
    t.equal((await asMember('GET', url)).statusCode, 200)
    await remove(world)
    t.equal((await asMember('GET', url)).statusCode, 404, name)
    t.equal((await asMember('PATCH', url, { title: 'x' })).statusCode, 404, name)
    t.strictSame((await asMember('GET', '/documents')).json().data, [], name)
    const draft = { title: 'x', body: 'x', folderId: chain.folderId }
    t.equal((await asMember('POST', '/documents', draft)).statusCode, 404, name)
  }
})

/** Writes of a member, in a document or its folder, and what ends their right meanwhile. */
const writes = {
  change: `UPDATE documents SET title = 'Changed' WHERE id = $1 AND $2 > 0`,
  create: `INSERT INTO documents (tenant_id, folder_id, team_id, title, body)
    SELECT f.tenant_id, f.id, f.team_id, 'Added', 'x' FROM folders f WHERE f.id = $2 AND $1 > 0
    FOR KEY SHARE OF f`,
}
const endings: Record<string, (world: Office, other: number) => Promise<{ statusCode: number }>> = {
  'the member leaves the team': ({ admin, chain, member }) =>
    admin('DELETE', `/teams/${chain.teamId}/members/${member.userId}`),
  'a service removes the member from the team': async ({ admin, chain, member }) => {
    const permissions = ['team:update']
    const made = await admin('POST', '/service-tokens', { name: 'hr', permissions })
    const service = await senderOf(test, { authorization: `Bearer ${made.json().token}` })
    return service('DELETE', `/teams/${chain.teamId}/members/${member.userId}`)
  },
  'the folder is moved to another team': ({ admin, chain }, teamId) =>
    admin('PATCH', `/folders/${chain.folderId}`, { teamId }),
  'the folder is moved into a folder of another team': async ({ admin, chain }, teamId) => {
    const { id: parentId } = (await admin('POST', '/folders', { name: 'x', teamId })).json()
    return admin('PATCH', `/folders/${chain.folderId}`, { parentId })
  },
}

for (const [write, sql] of Object.entries(writes)) {
  for (const [name, end] of Object.entries(endings)) {
    t.test(`a member's ${write} of a document is committed before ${name}`, async (t) => {
      const world = await office()
      const { database, admin, asMember, chain, member } = world
      const { id: other } = (await admin('POST', '/teams', { name: 'Other' })).json()
      const writer = await connect(t, database.url)
      await writer.query('BEGIN')
      await enterSession(writer, await addSession(database, member), true)
      t.equal((await writer.query(sql, [chain.documentId, chain.folderId])).rowCount, 1)
      const order: string[] = []
      const ending = end(world, other).then((answer) => {
        order.push('ended')
        return answer
      })
      await untilBlocked(database)
      order.push('committed')
      await writer.query('COMMIT')
      t.match((await ending).statusCode, /^20[04]$/)
      t.strictSame(order, ['committed', 'ended'])
      t.equal((await asMember('GET', `/documents/${chain.documentId}`)).statusCode, 404)
    })
  }
}

t.test('a folder or team is not deleted while a document is being added to it', async (t) => {
  const world = await office()
  const { database, admin, chain, member } = world
  await database.admin.query('DELETE FROM documents')
  const writer = await connect(t, database.url)
  await writer.query('BEGIN')
  await enterSession(writer, await addSession(database, member), true)
  await writer.query(writes.create, [1, chain.folderId])
  const deleting = admin('DELETE', `/folders/${chain.folderId}`)
  await untilBlocked(database)
  await writer.query('COMMIT')
  t.equal((await deleting).statusCode, 409)
  t.equal((await admin('DELETE', `/teams/${chain.teamId}`)).statusCode, 409)
})

t.test('a member who is removed from the tenant and returns is in none of its teams', async (t) => {
  const { asMember, chain, member, database } = await office()
  const { tenantId, userId } = member
  await database.admin.query('DELETE FROM memberships WHERE user_id = $1', [userId])
  t.equal((await asMember('GET', `/documents/${chain.documentId}`)).statusCode, 401)
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'admin')`,
    [tenantId, userId],
  )
  const back = await senderOf(test, member)
  t.equal((await back('GET', `/documents/${chain.documentId}`)).statusCode, 404)
})

t.test('teams are for administrators', async (t) => {
  const { asMember, chain, colleague } = await office()
  const url = `/teams/${chain.teamId}`
  const attempts: Parameters<Send>[] = [
    ['GET', '/teams'],
    ['POST', '/teams', { name: 'x' }],
    ['GET', url],
    ['PATCH', url, { name: 'x' }],
    ['DELETE', url],
    ['GET', `${url}/members`],
    ['GET', `${url}/members/${colleague.userId}`],
    ['PUT', `${url}/members/${colleague.userId}`],
    ['DELETE', `${url}/members/${colleague.userId}`],
    ['GET', '/teams/987654321'],
  ]
  for (const attempt of attempts) {
    t.equal((await asMember(...attempt)).statusCode, 403, attempt.join(' '))
  }
})

t.test('only listed fields and canonical ids are accepted', async (t) => {
  const { admin, chain, tenantId } = await office()
  const url = `/teams/${chain.teamId}`
  const bodies = [
    {},
    { name: '' },
    { name: 'a\nb' },
    { name: 'x'.repeat(201) },
    { name: 1 },
    { name: 'x', id: 1 },
    { name: 'x', tenantId },
    { name: 'x', members: [1] },
  ]
  for (const body of bodies) {
    t.equal((await admin('POST', '/teams', body)).statusCode, 400, JSON.stringify(body))
    t.equal((await admin('PATCH', url, body)).statusCode, 400, JSON.stringify(body))
  }
  for (const id of ['01', '-1', '1.0', 'x']) {
    t.equal((await admin('GET', `/teams/${id}`)).statusCode, 400, id)
    t.equal((await admin('PUT', `${url}/members/${id}`)).statusCode, 400, id)
  }
  t.equal((await admin('PUT', `${url}/members/9223372036854775808`)).statusCode, 404)
})

type Office = Awaited<ReturnType<typeof office>>

/** A tenant with an administrator, a member who can reach a document, a colleague, and another tenant. */
async function office() {
  const { database } = test
  const member = await createUser(database, { role: 'editor' })
  const { tenantId } = member
  const chain = await createChain(database, member)
  const colleague = await createUser(database, { tenantId })
  const stranger = await createUser(database, { role: 'admin' })
  const foreign = await createChain(database, stranger)
  const admin = await senderOf(test, await createUser(database, { role: 'admin', tenantId }))
  const asMember = await senderOf(test, member)
  return { database, tenantId, member, chain, colleague, stranger, foreign, admin, asMember }
}
