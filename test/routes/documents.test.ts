import t, { type Test } from 'tap'
import {
  addMember,
  type Chain,
  createChain,
  createDocument,
  createFolder,
  createTeam,
  nestFolder,
} from '#test/chain.ts'
import { build, createUser, signIn, type TestApp, type TestUser } from '#test/helper.ts'

const fields = ['id', 'tenantId', 'folderId', 'title', 'body', 'createdAt', 'updatedAt']

t.test(
  'member of team, team owns folder, folder holds document: read, listed, changed',
  async (t) => {
    const { send, chain, user } = await chained(t)
    const url = `/documents/${chain.documentId}`
    const read = await send('GET', url)
    t.equal(read.statusCode, 200)
    t.strictSame(Object.keys(read.json()), fields)
    const { tenantId } = user
    const { documentId: id, folderId } = chain
    t.match(read.json(), { id, tenantId, folderId, title: 'A document', body: 'Its text' })
    t.strictSame((await send('GET', '/documents')).json(), {
      data: [read.json()],
      nextCursor: null,
    })

    const changed = await send('PATCH', url, { title: 'Another title' })
    t.equal(changed.statusCode, 200)
    t.strictSame(Object.keys(changed.json()), fields)
    t.match(changed.json(), { id, title: 'Another title', body: 'Its text' })
    t.strictSame((await send('GET', url)).json(), changed.json())
    t.match((await send('PATCH', url, { body: '\n' + 'ß' })).json(), {
      title: 'Another title',
      body: '\nß',
    })

    const body = { title: 'New', body: 'Two\nlines', folderId }
    const created = await send('POST', '/documents', body)
    t.equal(created.statusCode, 201)
    t.strictSame(Object.keys(created.json()), fields)
    t.match(created.json(), { ...body, tenantId })
    t.strictSame((await send('GET', `/documents/${created.json().id}`)).json(), created.json())
  },
)

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** A caller with a chain to one document, in the role of an editor unless told otherwise. */
async function chained(t: Test, role = 'editor') {
  const test = await build(t)
  const user = await createUser(test.database, { role })
  const chain = await createChain(test.database, user)
  return { test, user, chain, send: await senderOf(test, user) }
}

async function senderOf(test: TestApp, user: TestUser) {
  const { cookie } = await signIn(test, user)
  return (method: Method, url: string, body?: unknown) =>
    test.app.inject({
      method,
      url,
      headers: { cookie, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
}
