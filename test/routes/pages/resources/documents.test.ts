import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { visitor } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { addMember, createChain, createDocument } from '#test/support/callers/chain.ts'

/** For every test: each has a tenant and users of its own. */
const test = await build(t)

t.test('documents of the user’s teams are shown, escaped; all others are a 404', async (t) => {
  const { app, database } = test
  const user = await createUser(database)
  const chain = await createChain(database, user)
  const admin = await createUser(database, { role: 'admin', tenantId: user.tenantId })
  const outOfReach = await createChain(database, admin)
  await database.admin.query(
    `UPDATE documents SET title = '<i>Title', body = '<u>text' WHERE id = $1`,
    [chain.documentId],
  )
  const { cookie } = await signIn(test, user)
  const open = (url: string, who = cookie) =>
    app.inject({ url, headers: { accept: 'text/html', cookie: who } })

  t.match((await open('/')).body, `href="/app/documents/${chain.documentId}"`)
  const list = await open('/app/documents')
  t.equal(list.statusCode, 200)
  t.match(list.body, '&lt;i&gt;Title')
  t.notMatch(list.body, `/app/documents/${outOfReach.documentId}"`)
  const page = await open(`/app/documents/${chain.documentId}`)
  t.match(page.body, '&lt;u&gt;text')
  t.notMatch(list.body + page.body, /<i>|<u>/)

  const theirs = (await signIn(test, admin)).cookie
  t.equal((await open(`/app/documents/${chain.documentId}`, theirs)).statusCode, 404, 'an admin')
  t.equal((await open(`/app/documents/${outOfReach.documentId}`)).statusCode, 404)
  t.equal((await open('/app/documents/9999')).statusCode, 404)
  t.equal((await app.inject('/app/documents')).statusCode, 401)
})

t.test('the list of documents has a link to older documents', async (t) => {
  const user = await createUser(test.database)
  const { folderId } = await createChain(test.database, user)
  for (let n = 0; n < 26; n++) await createDocument(test.database, folderId)
  const { cookie } = await signIn(test, user)
  const open = async (url: string) => (await test.app.inject({ url, headers: { cookie } })).body
  const idsOf = (body: string) =>
    [...body.matchAll(/\/app\/documents\/(\d+)"/g)].map(([, id]) => id)
  const first = await open('/app/documents')
  const older = /href="([^"]+cursor=[^"]+)"/.exec(first)?.[1] ?? ''
  const second = await open(older)
  t.equal(idsOf(first).length, 25)
  t.equal(idsOf(second).length, 2)
  t.notMatch(second, 'rel="next"')
  t.equal(new Set([...idsOf(first), ...idsOf(second)]).size, 27)
})

t.test('a document is created in a folder of one’s teams', async (t) => {
  const editor = await createUser(test.database, { role: 'editor' })
  const reader = await createUser(test.database, { role: 'viewer', tenantId: editor.tenantId })
  const { folderId, teamId } = await createChain(test.database, editor)
  await addMember(test.database, editor.tenantId, teamId, reader.userId)
  const outside = await createUser(test.database, { role: 'admin', tenantId: editor.tenantId })
  const [author, viewer, admin] = [
    await visitor(test, editor),
    await visitor(test, reader),
    await visitor(test, outside),
  ]
  await test.database.admin.query(`UPDATE folders SET name = '<b>Plans'`)
  const page = (await author.open('/app/documents/new')).body
  t.match(page, `<option value="${folderId}">`)
  t.match(page, '&lt;b&gt;Plans')
  t.match((await author.open('/app/documents')).body, 'href="/app/documents/new"')
  t.equal((await viewer.open('/app/documents/new')).statusCode, 403, 'may not write')
  t.notMatch((await viewer.open('/app/documents')).body, '/app/documents/new')
  const placeless = (await admin.open('/app/documents/new')).body
  t.notMatch(placeless, 'name="folderId"', 'has no folder')
  t.match(placeless, 'You are in no team with a folder')

  const fields = { title: 'Rota', body: '\r\nWho opens', folderId: String(folderId) }
  const form = { ...fields, submission: crypto.randomUUID() }
  const made = await author.send('/app/documents/new', form)
  t.match(made.headers.location, /^\/app\/documents\/\d+\?done=created$/)
  t.equal((await author.send('/app/documents/new', form)).headers.location, made.headers.location)
  const { rows } = await test.database.admin.query(
    `SELECT folder_id::integer AS folder, team_id::integer AS team, body FROM documents WHERE title = 'Rota'`,
  )
  t.strictSame(rows, [{ folder: folderId, team: teamId, body: '\nWho opens' }], 'once')
  t.match((await author.open(made.headers.location ?? '')).body, '<textarea name="body"')
  t.equal((await admin.send('/app/documents/new', form)).statusCode, 404, 'not in the team')
  const none = { ...form, folderId: '', submission: crypto.randomUUID() }
  t.equal((await author.send('/app/documents/new', none)).statusCode, 400)
})

t.test('a document is edited by those who may; an older version is not saved', async (t) => {
  const { admin: db } = test.database
  const editor = await createUser(test.database, { role: 'editor' })
  const reader = await createUser(test.database, { role: 'viewer', tenantId: editor.tenantId })
  const { documentId, teamId } = await createChain(test.database, editor)
  await addMember(test.database, editor.tenantId, teamId, reader.userId)
  const outside = await createUser(test.database, { role: 'admin', tenantId: editor.tenantId })
  const [author, viewer, admin] = await Promise.all(
    [editor, reader, outside].map((user) => visitor(test, user)),
  )
  const path = `/app/documents/${documentId}`
  const page = (await author?.open(path))?.body ?? ''
  const [, version = ''] = /name="version" value="([^"]*)"/.exec(page) ?? []
  const form = { title: 'New title', body: 'one\r\ntwo', version }
  t.notMatch((await viewer?.open(path))?.body, 'Edit document')
  t.equal((await viewer?.send(path, form))?.statusCode, 403)
  t.equal((await admin?.send(path, form))?.statusCode, 404, 'not in the team')
  t.equal((await author?.send(path, form))?.headers.location, `${path}?done=changed`)
  t.same((await db.query('SELECT title, body FROM documents WHERE id = $1', [documentId])).rows, [
    { title: 'New title', body: 'one\ntwo' },
  ])
  const late = await author?.send(path, { ...form, title: 'Late' })
  t.equal(late?.statusCode, 412)
  t.match(late?.body, 'Somebody has changed this document')
  t.match(late?.body, 'value="Late"')
})
