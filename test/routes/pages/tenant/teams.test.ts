import t from 'tap'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

t.test('a team is created, filled and emptied again on its page', async (t) => {
  const { test, one, admin, stranger, viewer } = await webhookVisitors(shared)
  const { admin: db } = test.database
  const form = { name: '<b>Gate', submission: crypto.randomUUID() }
  t.equal(
    (await admin.send('/app/teams/new', form)).headers.location,
    '/app/teams?done=team-created',
  )
  await admin.send('/app/teams/new', form)
  const { rows: teams } = await db.query('SELECT id, name FROM teams')
  t.equal(teams.length, 1, 'the same form creates one team')
  const path = `/app/teams/${teams[0].id}`
  const { body } = await admin.open('/app/teams')
  t.match(body, '<a class="button" href="/app/teams/new">')
  t.match(body, '&lt;b&gt;Gate')
  t.notMatch(body, '<b>Gate')

  const member = { userId: String(one.userId) }
  t.equal((await stranger.send(`${path}/members`, member)).statusCode, 404)
  t.equal((await viewer.send(`${path}/members`, member)).statusCode, 403)
  t.equal((await admin.send(`${path}/members`, { userId: '999999' })).statusCode, 404)
  t.equal((await admin.send(`${path}/members`, member)).statusCode, 303)
  t.equal((await db.query('SELECT FROM team_members')).rowCount, 1)

  const folder = (name: string, parentId = '') =>
    admin.submit(`${path}/folders`, { name, parentId })
  t.equal((await folder('Top')).statusCode, 303)
  const { rows: tops } = await db.query(`SELECT id FROM folders WHERE name = 'Top'`)
  t.equal((await folder('Below', tops[0].id)).statusCode, 303)
  t.equal((await folder('Nowhere', '999999')).statusCode, 404)
  const tree = (await admin.open('/app/teams')).body
  t.match(tree, /<bdi>Top<\/bdi>.*<ul class="tree">.*<bdi>Below<\/bdi>/s)
  t.notMatch(tree, 'Delete the folder Top', 'only an empty folder has the button')
  t.notMatch(tree, 'Delete team', 'only a team without folders has the button')
  t.equal((await admin.send(`/app/folders/${tops[0].id}/delete`)).statusCode, 409)

  const { rows: belows } = await db.query(`SELECT id FROM folders WHERE name = 'Below'`)
  for (const { id } of [...belows, ...tops]) {
    t.equal((await stranger.send(`/app/folders/${id}/delete`)).statusCode, 404)
    t.equal((await admin.send(`/app/folders/${id}/delete`)).statusCode, 303)
  }
  t.equal((await admin.send(`${path}/members/remove`, member)).statusCode, 303)
  t.equal((await admin.send(`${path}/members/remove`, member)).statusCode, 404)
  t.equal((await stranger.send(`${path}/delete`)).statusCode, 404)
  t.equal((await admin.send(`${path}/delete`)).statusCode, 303)
  t.equal((await db.query('SELECT FROM teams')).rowCount, 0)
  t.match((await admin.open('/app/teams')).body, 'No teams yet')
})

t.test('the page says so when it cannot show everything', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
  t.notMatch((await admin.open('/app/teams')).body, 'Not everything is shown')
  await test.database.admin.query(
    `INSERT INTO teams (tenant_id, name) SELECT $1, 'T' FROM generate_series(1, 101)`,
    [one.tenantId],
  )
  t.match((await admin.open('/app/teams')).body, 'Not everything is shown')
})
