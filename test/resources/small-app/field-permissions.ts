import t from 'tap'
import { accessDocument, accessOverview } from '#src/access/overview.ts'
import { buildAt } from '#test/support/app/at-time.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { asset } from '#test/support/small-app/test/asset.ts'

/* Fields that need a permission, by the appraisal of the assets of the small app: each way out, and each way in. */

const test = await buildAt(t)
const { admin } = test.database
const boss = await owner(test, { role: 'admin' })
const { tenantId } = boss.user
const editor = await owner(test, { role: 'editor', tenantId })
const accountant = await owner(test, { role: 'accountant', tenantId })
// Now, because a token needs a recent sign-in, and these tests may come minutes later.
const limited = await accountant.make({ permissions: ['task:read', 'asset:read', 'task:write'] })

const appraisal = { amount: 987_654, currency: 'EUR' }
const secret = /appraisal|987654|9876\.54|9,876\.54|remarks|below the line/
const guarded = { appraisal, remarks: 'Far below the line' }
const made = await accountant.send('POST', '/assets', { ...asset.body, ...guarded })
const { id } = made.json()
const path = `/assets/${id}`
const project = (await boss.send('POST', '/projects', { title: 'A fence' })).json().id
const issueBody = { title: 'x', projectId: project, assetId: id }
const issue = (await boss.send('POST', '/issues', issueBody)).json().id

t.test('the access table shows the fields, and the actions with code of their own', (t) => {
  const document = accessDocument(accessOverview())
  for (const field of ['appraisal', 'remarks']) {
    t.match(document, `| asset | ${field} | \`asset:appraise\` | accountant, admin |\n`)
  }
  const lineOf = (resource: string, action: string) =>
    document.split('\n').find((line) => line.startsWith(`| ${resource} | ${action} |`)) ?? ''
  t.match(lineOf('task', 'finish'), '| only while it is open; code of its own, which may refuse |')
  t.notMatch(lineOf('task', 'rename'), 'code of its own')
  t.notMatch(document, '## Rows that some members see')
  t.end()
})

t.test('who has the permission sees the field', async (t) => {
  t.equal(made.statusCode, 201)
  t.match(made.json(), guarded)
  for (const who of [accountant, boss]) {
    t.match((await who.send('GET', path)).json(), guarded)
    t.match((await who.send('GET', '/assets')).json().data, [guarded])
  }
  const page = await accountant.send('GET', `/app${path}`, undefined, { accept: 'text/html' })
  t.match(page.body, /<dt>Appraisal<\/dt><dd>9,?876\.54 EUR<\/dd>/)
  t.match(page.body, 'Far below the line')
})

t.test('who lacks it sees nothing of it in any response or page', async (t) => {
  const ways = [`${path}`, '/assets', `/issues/${issue}?expand=asset`, '/issues?expand=asset']
  for (const [who, send] of [
    ['an editor', editor.send],
    ['a limited token of an accountant', limited.use],
  ] as const) {
    for (const way of ways) {
      const answer = await send('GET', way)
      t.equal(answer.statusCode, 200, `${who}: ${way}`)
      t.notMatch(answer.body, secret, `${who}: ${way}`)
    }
    const changed = await send('PATCH', path, { name: 'A car' })
    t.equal(changed.statusCode, 200)
    t.notMatch(changed.body, secret, `${who}: the response to a change`)
    const created = await send('POST', '/assets', { ...asset.body, name: 'Another' })
    t.equal(created.statusCode, 201)
    t.notMatch(created.body, secret, `${who}: the response to a new row`)
  }
  for (const way of [`/app${path}`, '/app/assets', '/app/assets/new']) {
    const { body, statusCode } = await editor.send('GET', way, undefined, { accept: 'text/html' })
    t.equal(statusCode, 200)
    t.notMatch(body, /appraisal|9,?876\.54|remarks|below the line/i, way)
  }
  t.match((await boss.send('GET', path)).json(), { name: 'A car', ...guarded }, 'it is kept')
})

t.test('a filter or sort by it is refused to everybody', async (t) => {
  for (const query of ['appraisal=1', 'remarks=x', 'sort=appraisal', 'sort=-remarks']) {
    t.equal((await accountant.send('GET', `/assets?${query}`)).statusCode, 400, query)
  }
})

t.test('who lacks it cannot write it, not even empty', async (t) => {
  const key = () => ({ 'idempotency-key': crypto.randomUUID() })
  for (const send of [editor.send, limited.use]) {
    for (const [method, url, body] of [
      ['POST', '/assets', { ...asset.body, appraisal }],
      ['POST', '/assets', { ...asset.body, appraisal: null }],
      ['PATCH', path, { appraisal: null }],
      ['PATCH', path, { name: 'Stolen', appraisal }],
    ] as const) {
      for (const headers of [{}, key()]) {
        const refused = await send(method, url, body, headers)
        // A new row has no null in a body, for anybody.
        if (method === 'POST' && body.appraisal === null) {
          t.equal(refused.statusCode, 400)
          continue
        }
        t.equal(refused.statusCode, 403, `${method} ${JSON.stringify(headers)}`)
        t.match(refused.json(), {
          detail: 'You lack the permission for a field: appraisal needs asset:appraise.',
          errors: [
            { in: 'body', pointer: '/appraisal', detail: 'needs the permission asset:appraise' },
          ],
        })
      }
    }
  }
  const form = { ...asset.forms?.change, appraisal: '1.00 EUR', remarks: 'x' }
  const posted = await test.app.inject({
    ...{ method: 'POST', url: `/app${path}`, payload: new URLSearchParams(form).toString() },
    headers: { cookie: editor.cookie, 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.equal(posted.statusCode, 403, 'in a form')
  const { remarks: _remarks, appraisal: _appraisal, ...rest } = form
  const saved = await test.app.inject({
    ...{ method: 'POST', url: `/app${path}`, payload: new URLSearchParams(rest).toString() },
    headers: { cookie: editor.cookie, 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.equal(saved.statusCode, 303, 'the form without it is saved')
  t.match((await boss.send('GET', path)).json(), guarded, 'nothing was changed')
})

t.test('a version is that of what the caller sees', async (t) => {
  for (const who of [editor, accountant]) {
    const { etag } = (await who.send('GET', path)).headers
    const ifMatch = { 'if-match': String(etag) }
    const change = () => who.send('PATCH', path, { name: crypto.randomUUID() }, ifMatch)
    t.equal((await change()).statusCode, 200)
    t.equal((await change()).statusCode, 412, 'the old one')
  }
})

t.test('neither an event nor the export of a person has it, whatever their role is', async (t) => {
  const { rows } = await admin.query(
    'SELECT body FROM outbound_events WHERE tenant_id = $1 AND type LIKE $2',
    [tenantId, 'asset.%'],
  )
  t.ok(rows.length > 3)
  for (const { body } of rows) t.notMatch(body, secret)
  const own = await accountant.send('GET', '/auth/account/export')
  t.equal(own.statusCode, 200)
  t.ok(own.json().assets.length > 0)
  t.notMatch(JSON.stringify(own.json().assets), secret)
})

t.test('the export of a tenant has what the role that manages it may see', async (t) => {
  const { rows } = await admin.query(
    `SELECT item FROM export_page('tenant', 'assets', NULL, $1, NULL, 100)`,
    [tenantId],
  )
  t.match(JSON.stringify(rows), '987654')
})
