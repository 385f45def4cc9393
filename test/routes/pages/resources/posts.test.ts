import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { visitor } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'

const [noon, night] = [12, 23]

/** A tenant with a person of each role, and an admin of another one. @param hour UTC */
async function people(t: Parameters<typeof build>[0], hour = noon) {
  const now = new Date()
  now.setUTCHours(hour)
  const test = await build(t, {}, { clock: { now: () => now } })
  const admin = await createUser(test.database, { role: 'admin' })
  const { tenantId } = admin
  const editor = await createUser(test.database, { role: 'editor', tenantId, department: 'sales' })
  const viewer = await createUser(test.database, { role: 'viewer', tenantId })
  const stranger = await createUser(test.database, { role: 'admin' })
  return {
    test,
    admin: await visitor(test, admin),
    editor: await visitor(test, editor),
    viewer: await visitor(test, viewer),
    stranger: await visitor(test, stranger),
  }
}

const idOf = (location: unknown) => /\/app\/posts\/(\d+)/.exec(String(location))?.[1]
const versionIn = (body: string) => /name="version" value="([^"]*)"/.exec(body)?.[1] ?? ''

t.test('a post is written once, read by the tenant, edited and deleted', async (t) => {
  const { admin, editor, viewer, stranger, test } = await people(t)
  const form = {
    title: '<i>Title',
    body: 'one\r\ntwo <u>',
    department: '',
    submission: crypto.randomUUID(),
  }
  const made = await editor.send('/app/posts/new', form)
  t.equal(made.statusCode, 303)
  const again = await editor.send('/app/posts/new', form)
  t.equal(again.headers.location, made.headers.location, 'the same form writes one post')
  const { rows } = await test.database.admin.query('SELECT body, department FROM posts')
  t.same(rows, [{ body: 'one\ntwo <u>', department: 'sales' }])
  const path = `/app/posts/${idOf(made.headers.location)}`

  const read = await viewer.open(path)
  t.match(read.body, '&lt;i&gt;Title')
  t.match(read.body, 'one\ntwo &lt;u&gt;')
  t.notMatch(read.body, /<i>|<u>|Edit post|Delete post/)
  t.match((await viewer.open('/app/posts')).body, `href="${path}"`)
  t.notMatch((await viewer.open('/app/posts')).body, 'Write a post')
  t.equal((await stranger.open(path)).statusCode, 404)
  t.notMatch((await stranger.open('/app/posts')).body, path)

  const version = versionIn((await editor.open(path)).body)
  const edit = { title: 'New', body: 'text', version }
  t.equal((await viewer.send(path, edit)).statusCode, 403)
  t.equal((await stranger.send(path, edit)).statusCode, 404)
  const edited = await editor.send(path, edit)
  t.equal(edited.headers.location, `${path}?done=changed`)
  t.match((await viewer.open(path)).body, 'New')

  const remove = { confirm: 'yes' }
  t.equal((await editor.send(`${path}/delete`, remove)).statusCode, 403)
  t.equal((await stranger.send(`${path}/delete`, remove)).statusCode, 404)
  t.equal((await admin.send(`${path}/delete`, {})).statusCode, 400, 'without confirmation')
  t.equal((await admin.send(`${path}/delete`, remove)).headers.location, '/app/posts?done=deleted')
  t.equal((await viewer.open(path)).statusCode, 404)
})

t.test('a line break counts as one character, as in the API', async (t) => {
  const { editor } = await people(t)
  const body = `${'x'.repeat(24_999)}\r\n`.repeat(2)
  const form = { title: 'Long', body, department: '' }
  t.equal((await editor.submit('/app/posts/new', form)).statusCode, 303)
  t.equal((await editor.submit('/app/posts/new', { ...form, body: `${body}x` })).statusCode, 400)
})

t.test('an edit of an older version keeps what was typed and changes nothing', async (t) => {
  const { editor, admin, test } = await people(t)
  const made = await editor.submit('/app/posts/new', { title: 'First', body: 'x', department: '' })
  const path = `/app/posts/${idOf(made.headers.location)}`
  const version = versionIn((await editor.open(path)).body)
  await test.database.admin.query(`UPDATE posts SET updated_at = now() + interval '1 second'`)
  const late = await admin.send(path, { title: 'Late', body: 'typed text', version })
  t.equal(late.statusCode, 412)
  t.match(late.body, 'Somebody has changed this post')
  t.match(late.body, 'value="Late"')
  t.match(late.body, '>\ntyped text</textarea>')
  const { rows } = await test.database.admin.query('SELECT title FROM posts')
  t.same(rows, [{ title: 'First' }])
  const saved = await admin.send(path, { title: 'Late', body: 'x', version: versionIn(late.body) })
  t.equal(saved.statusCode, 303, 'the page has the new version')
})

t.test('an editor outside their hours is refused with the reason, and loses no text', async (t) => {
  const { editor, test } = await people(t, night)
  const made = await editor.submit('/app/posts/new', { title: 'First', body: 'x', department: '' })
  const path = `/app/posts/${idOf(made.headers.location)}`
  const refused = await editor.send(path, { title: 'Night', body: 'my text' })
  t.equal(refused.statusCode, 403)
  t.match(refused.body, /09:00/)
  t.match(refused.body, '>\nmy text</textarea>')
  t.match(test.log.join(''), '"reason":"editor-outside-hours"')
  const { rows } = await test.database.admin.query('SELECT title FROM posts')
  t.same(rows, [{ title: 'First' }])
})

t.test('posts are found by department, page by page', async (t) => {
  const { editor, admin } = await people(t)
  for (let made = 0; made < 26; made += 1)
    await editor.submit('/app/posts/new', { title: `P${made}`, body: 'x', department: '' })
  await admin.submit('/app/posts/new', { title: 'Other', body: 'x', department: 'legal' })
  const legal = (await editor.open('/app/posts?department=legal')).body
  t.match(legal, 'Other')
  t.notMatch(legal, 'P25')
  const first = (await editor.open('/app/posts?department=sales')).body
  const older = /href="([^"]+)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const second = (await editor.open(older)).body
  t.match(second, '>P0<')
  t.match(second, 'rel="prev"')
  t.notMatch(second, 'Other')
  t.match((await editor.open('/app/posts?department=none')).body, 'Show all posts')
})

t.test('a post names its author, as long as they are a member', async (t) => {
  const test = await build(t)
  const reader = await createUser(test.database)
  const { tenantId } = reader
  const author = await createUser(test.database, { tenantId, email: 'vera@acme.example' })
  const { admin } = test.database
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO posts (tenant_id, author_id, title, body) VALUES ($1, $2, 'A title', 'x') RETURNING id`,
    [tenantId, author.userId],
  )
  const { cookie } = await signIn(test, reader)
  const open = () =>
    test.app.inject({
      url: `/app/posts/${rows[0]?.id}`,
      headers: { accept: 'text/html', cookie },
    })
  t.match((await open()).body, 'by <bdi>vera@acme.example</bdi>')
  await admin.query(`UPDATE users SET name = '<b>Vera' WHERE id = $1`, [author.userId])
  t.match((await open()).body, 'by <bdi>&lt;b&gt;Vera</bdi>')
  await admin.query('UPDATE posts SET author_id = NULL')
  t.match((await open()).body, 'by <bdi>a former member</bdi>')
})
