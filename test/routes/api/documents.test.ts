import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { comparable, type Send, senderOf } from '#test/support/app/send.ts'
import {
  createChain,
  createDocument,
  createFolder,
  createTeam,
} from '#test/support/callers/chain.ts'
import { untilBlocked } from '#test/support/database/until.ts'

const fields = ['id', 'tenantId', 'folderId', 'title', 'body', 'createdAt', 'updatedAt']

t.test(
  'a member of the team that owns the folder reads, lists and changes documents',
  async (t) => {
    const { send, chain, user } = await chained(t)
    const { documentId: id, folderId } = chain
    const { tenantId } = user
    const read = await send('GET', `/documents/${id}`)
    t.equal(read.statusCode, 200)
    t.strictSame(Object.keys(read.json()), fields, 'with the fields of the contract')
    t.match(read.json(), { id, tenantId, folderId, title: 'A document', body: 'Its text' })
    t.strictSame((await send('GET', '/documents')).json(), {
      data: [read.json()],
      nextCursor: null,
    })

    const changed = await send('PATCH', `/documents/${id}`, { title: 'Another title' })
    t.equal(changed.statusCode, 200)
    t.strictSame(Object.keys(changed.json()), fields)
    t.match(changed.json(), { id, title: 'Another title', body: 'Its text' })
    t.not(changed.json().updatedAt, read.json().updatedAt)
    t.strictSame((await send('GET', `/documents/${id}`)).json(), changed.json())
    const body = { body: 'Two\nlines' }
    t.match((await send('PATCH', `/documents/${id}`, body)).json(), {
      title: 'Another title',
      ...body,
    })
  },
)

t.test('a member of the team that owns the folder creates documents in it', async (t) => {
  const { send, chain, user, test } = await chained(t)
  const body = { title: 'New', body: 'Two\nlines', folderId: chain.folderId }
  const created = await send('POST', '/documents', body)
  t.equal(created.statusCode, 201)
  t.strictSame(Object.keys(created.json()), fields)
  t.match(created.json(), { ...body, tenantId: user.tenantId })
  const read = await send('GET', `/documents/${created.json().id}`)
  t.strictSame(read.json(), created.json())
  const { rows } = await test.database.admin.query(
    'SELECT DISTINCT team_id::int, folder_id::int FROM documents',
  )
  t.strictSame(rows, [{ team_id: chain.teamId, folder_id: chain.folderId }])
})

t.test(
  'without the chain a document is the same 404 as a missing one, even for admins',
  async (t) => {
    const { test, chain, user } = await chained(t)
    const { tenantId } = user
    const admin = await createUser(test.database, { role: 'admin', tenantId })
    const elsewhere = await createUser(test.database, { role: 'editor', tenantId })
    await createChain(test.database, elsewhere)
    const stranger = await createUser(test.database, { role: 'admin' })
    await createChain(test.database, stranger)
    for (const other of [admin, elsewhere, stranger]) {
      const send = await senderOf(test, other)
      const missing = comparable(await send('GET', '/documents/987654321'))
      const attempts = [
        await send('GET', `/documents/${chain.documentId}`),
        await send('PATCH', `/documents/${chain.documentId}`, { title: 'Mine' }),
        await send('POST', '/documents', { title: 'x', body: 'x', folderId: chain.folderId }),
        await send('POST', '/documents', { title: 'x', body: 'x', folderId: 987654321 }),
      ]
      for (const attempt of attempts) t.strictSame(comparable(attempt), missing)
      const { data } = (await send('GET', '/documents')).json()
      t.notOk(data.some(({ id }: { id: number }) => id === chain.documentId))
    }
    const { rows } = await test.database.admin.query(`SELECT DISTINCT title FROM documents`)
    t.strictSame(rows, [{ title: 'A document' }], 'nothing was changed or created')
  },
)

t.test('a folder that is being moved to another team accepts no document', async (t) => {
  const { test, user, chain, send } = await chained(t)
  const { admin } = test.database
  const other = await createTeam(test.database, user.tenantId)
  const move = await admin.connect()
  await move.query('BEGIN')
  await move.query(
    `WITH folder AS (UPDATE folders SET team_id = $1 WHERE tenant_id = $2)
     UPDATE documents SET team_id = $1 WHERE tenant_id = $2`,
    [other, user.tenantId],
  )
  const writing = send('POST', '/documents', { title: 'x', body: 'x', folderId: chain.folderId })
  await untilBlocked(test.database)
  await move.query('COMMIT')
  move.release()
  t.equal((await writing).statusCode, 404)
})

t.test('a viewer with the chain reads; writing is 403, whatever the id', async (t) => {
  const { send, chain } = await chained(t, 'viewer')
  t.equal((await send('GET', `/documents/${chain.documentId}`)).statusCode, 200)
  t.equal((await send('GET', '/documents')).json().data.length, 1)
  for (const id of [chain.documentId, 987654321]) {
    t.equal((await send('PATCH', `/documents/${id}`, { title: 'x' })).statusCode, 403)
    const body = { title: 'x', body: 'x', folderId: id }
    t.equal((await send('POST', '/documents', body)).statusCode, 403)
  }
})

t.test('a token limited to documents can do only what it names', async (t) => {
  const { test, user, chain, send } = await chained(t)
  const token = async (...permissions: string[]) => {
    const made = await send('POST', '/auth/tokens', { name: 'x', permissions })
    return senderOf(test, { authorization: `Bearer ${made.json().token}` })
  }
  const url = `/documents/${chain.documentId}`
  const draft = { title: 'x', body: 'x', folderId: chain.folderId }
  const cases = [
    { send: await token('document:read'), read: 200, update: 403, create: 403 },
    { send: await token('document:write'), read: 403, update: 200, create: 201 },
    { send: await token('document:read', 'document:write'), read: 200, update: 200, create: 201 },
    { send: await token('post:read', 'post:write'), read: 403, update: 403, create: 403 },
  ]
  for (const { send, ...expected } of cases) {
    t.equal((await send('GET', url)).statusCode, expected.read)
    t.equal((await send('GET', '/documents')).statusCode, expected.read)
    t.equal((await send('PATCH', url, { title: 'By a program' })).statusCode, expected.update)
    t.equal((await send('POST', '/documents', draft)).statusCode, expected.create)
    t.equal((await send('GET', '/teams')).statusCode, 403)
  }
  await test.database.admin.query('DELETE FROM team_members WHERE user_id = $1', [user.userId])
  const [reader, writer] = cases
  t.equal(
    (await reader?.send('GET', url))?.statusCode,
    404,
    'a token has the chains of its owner only',
  )
  t.equal((await writer?.send('PATCH', url, { title: 'x' }))?.statusCode, 404)
})

t.test('only listed fields within their limits are accepted', async (t) => {
  const { send, chain, test, user } = await chained(t)
  const { folderId } = chain
  const good = { title: 'x', body: 'x', folderId }
  const bodies: [string, unknown][] = [
    ['empty', {}],
    ['no folder', { title: 'x', body: 'x' }],
    ['an id', { ...good, id: 1 }],
    ['a tenant', { ...good, tenantId: user.tenantId }],
    ['a team', { ...good, teamId: chain.teamId }],
    ['a person', { ...good, userId: user.userId }],
    ['a time', { ...good, createdAt: '2026-01-01T00:00:00Z' }],
    ['the folder as text', { ...good, folderId: String(folderId) }],
    ['folder 0', { ...good, folderId: 0 }],
    ['half a folder', { ...good, folderId: folderId + 0.5 }],
    ['a folder past 2^53 − 1', { ...good, folderId: 2 ** 53 }],
    ['folders', { ...good, folderId: [folderId] }],
    ['a blank title', { ...good, title: ' ' }],
    ['a long title', { ...good, title: 'x'.repeat(201) }],
    ['a title of two lines', { ...good, title: 'x\nx' }],
    ['a NUL', { ...good, body: 'a\u0000b' }],
    ['half a character', { ...good, body: 'a\ud800' }],
    ['a long body', { ...good, body: 'x'.repeat(50_001) }],
  ]
  for (const [name, body] of bodies) {
    t.equal((await send('POST', '/documents', body)).statusCode, 400, name)
  }
  const url = `/documents/${chain.documentId}`
  const changes = [
    {},
    { folderId },
    { title: 'x', teamId: 1 },
    { title: 'x', id: 1 },
    { title: null },
  ]
  for (const change of changes) {
    t.equal((await send('PATCH', url, change)).statusCode, 400, JSON.stringify(change))
  }
  t.equal((await send('GET', '/documents?tenantId=x')).statusCode, 400)
  const { rows } = await test.database.admin.query('SELECT title FROM documents')
  t.strictSame(rows, [{ title: 'A document' }])
})

t.test('ids at the limits', async (t) => {
  const { send, chain } = await chained(t)
  const cases: [string, number][] = [
    [String(chain.documentId), 200],
    ['0', 404],
    ['2147483648', 404],
    ['9007199254740991', 404],
    ['9007199254740992', 404],
    ['9223372036854775808', 404],
    [`0${chain.documentId}`, 400],
    [`+${chain.documentId}`, 400],
    ['-1', 400],
    ['1e0', 400],
    ['1%20or%201=1', 400],
  ]
  for (const [id, status] of cases) {
    t.equal((await send('GET', `/documents/${id}`)).statusCode, status, id)
    t.equal((await send('PATCH', `/documents/${id}`, { title: 'x' })).statusCode, status, id)
  }
  const body = { title: 'x', body: 'x', folderId: Number.MAX_SAFE_INTEGER }
  t.equal((await send('POST', '/documents', body)).statusCode, 404)
})

t.test(
  'the list has the documents of all teams of the caller, newest first, each once',
  async (t) => {
    const { test, user, send, chain } = await chained(t)
    const { database } = test
    const others = await createTeam(database, user.tenantId)
    const hidden = await createFolder(database, user.tenantId, others)
    const second = await createTeam(database, user.tenantId, [user.userId])
    const folders = [chain.folderId, await createFolder(database, user.tenantId, second)]
    const ids = [chain.documentId]
    for (let n = 0; n < 6; n++) {
      ids.push(await createDocument(database, folders[n % 2] ?? 0))
      await createDocument(database, hidden)
    }
    for (const limit of [1, 2, 3, 7, 8]) {
      t.strictSame(await readAll(send, limit), ids.toReversed(), `limit ${limit}`)
    }
    const { nextCursor } = (await send('GET', '/documents?limit=1')).json()
    t.equal((await send('GET', `/teams?cursor=${nextCursor}`)).statusCode, 403)
    t.equal((await send('GET', `/documents?cursor=${nextCursor}x`)).statusCode, 400)
    t.equal((await send('GET', '/documents?limit=0')).statusCode, 400)
    t.equal((await send('GET', '/documents?limit=101')).statusCode, 400)
    const stranger = await senderOf(test, await createUser(database, { tenantId: user.tenantId }))
    const answer = await stranger('GET', `/documents?cursor=${nextCursor}`)
    t.strictSame(answer.json(), { data: [], nextCursor: null }, 'a cursor grants no access')
  },
)

/** The ids of all pages. */
async function readAll(send: Send, limit: number): Promise<number[]> {
  const ids: number[] = []
  for (let cursor = ''; ; ) {
    const page = (await send('GET', `/documents?limit=${limit}${cursor}`)).json()
    ids.push(...page.data.map(({ id }: { id: number }) => id))
    if (page.nextCursor === null) return ids
    cursor = `&cursor=${page.nextCursor}`
  }
}

/** A caller who can reach one document. */
async function chained(t: Test, role = 'editor') {
  const test = await build(t)
  const user = await createUser(test.database, { role })
  const chain = await createChain(test.database, user)
  return { test, user, chain, send: await senderOf(test, user) }
}
