import t from 'tap'
import { buildAt } from '#test/support/app/at-time.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { asset } from '#test/support/small-app/test/asset.ts'

/* References between resources of the small app. */

const test = await buildAt(t)
const ours = await owner(test, { role: 'admin' })
const theirs = await owner(test, { role: 'admin' })
const words = { projectId: 'a project', assetId: 'an asset' }
const nobodys = 987_654_321

async function create(who: typeof ours, path: string, body: object): Promise<number> {
  const answer = await who.send('POST', path, body)
  if (answer.statusCode !== 201) throw new Error(answer.body)
  return answer.json().id
}

t.test('a reference to a row of another tenant is like one to none', async (t) => {
  const own = await create(ours, '/projects', { title: 'Ours' })
  const foreign = {
    projectId: await create(theirs, '/projects', { title: 'Theirs' }),
    assetId: await create(theirs, '/assets', { ...asset.body }),
  }
  const id = await create(ours, '/issues', { title: 'x', projectId: own })
  for (const [method, url, key, body] of [
    ['POST', '/issues', 'projectId', { title: 'y' }],
    ['POST', '/issues', 'assetId', { title: 'y', projectId: own }],
    ['PATCH', `/issues/${id}`, 'assetId', { title: 'y' }],
  ] as const) {
    const [toForeign, toNone] = await Promise.all(
      [foreign[key], nobodys].map((named) => ours.send(method, url, { ...body, [key]: named })),
    )
    t.equal(toForeign?.statusCode, 400, `${method} ${key}`)
    t.strictSame(toForeign?.json().errors, [
      {
        in: 'body',
        pointer: `/${key}`,
        detail: `must be the id of ${words[key]} that you can see`,
      },
    ])
    t.strictSame({ ...toForeign?.json(), instance: '' }, { ...toNone?.json(), instance: '' })
  }
  const { title, projectId } = (await ours.send('GET', `/issues/${id}`)).json()
  t.strictSame([title, projectId], ['x', own], 'nothing was changed')
})

t.test('an owner’s row refers to rows of the same owner', async (t) => {
  const colleague = await owner(test, { role: 'admin', tenantId: ours.user.tenantId })
  const foreign = await create(colleague, '/memos', { title: 'Of a colleague' })
  const own = await create(ours, '/memos', { title: 'First' })
  const id = await create(ours, '/memos', { title: 'Second', afterId: own })
  const refused = await ours.send('POST', '/memos', { title: 'Third', afterId: foreign })
  t.equal(refused.statusCode, 400)
  t.match(refused.json().errors, [{ pointer: '/afterId' }])
  t.equal((await ours.send('PATCH', `/memos/${id}`, { afterId: foreign })).statusCode, 400)
  t.equal((await ours.send('DELETE', `/memos/${own}`)).statusCode, 204)
  t.equal((await ours.send('GET', `/memos/${id}`)).json().afterId, null, 'it is cleared')
})

t.test('what a deletion does to the rows that refer to it', async (t) => {
  const projectId = await create(ours, '/projects', { title: 'A fence' })
  const assetId = await create(ours, '/assets', { ...asset.body })
  const first = await create(ours, '/issues', { title: 'x', projectId, assetId })
  const second = await create(ours, '/issues', { title: 'y', projectId, blockedById: first })

  const restricted = await ours.send('DELETE', `/assets/${assetId}`)
  t.equal(restricted.statusCode, 409)
  t.match(restricted.json(), {
    type: '/docs/errors/conflict',
    detail: 'Issues refer to this asset. Delete them or let them refer to another one first.',
  })
  t.equal((await ours.send('GET', `/assets/${assetId}`)).statusCode, 200)

  t.equal((await ours.send('DELETE', `/issues/${first}`)).statusCode, 204)
  t.equal((await ours.send('GET', `/issues/${second}`)).json().blockedById, null, 'cleared')
  t.equal((await ours.send('DELETE', `/assets/${assetId}`)).statusCode, 204, 'none refers to it')

  const before = await usage()
  t.equal((await ours.send('DELETE', `/projects/${projectId}`)).statusCode, 204)
  t.equal((await ours.send('GET', `/issues/${second}`)).statusCode, 404, 'deleted with it')
  const after = await usage()
  t.equal(before.counted - after.counted, 2, 'both rows are counted')
  t.strictSame(after.counted, after.measured, 'what is counted is what is stored')
})

t.test('a page shows the other rows by name, and offers them', async (t) => {
  const projectId = await create(ours, '/projects', { title: 'A <fence>' })
  const foreign = await create(theirs, '/projects', { title: 'Theirs' })
  const id = await create(ours, '/issues', { title: 'x', projectId })
  const open = async (url: string) =>
    (await ours.send('GET', url, undefined, { accept: 'text/html' })).body
  const link = `<a href="/app/projects/${projectId}"><bdi>A &lt;fence&gt;</bdi></a>`
  const page = await open(`/app/issues/${id}`)
  t.ok(page.includes(`<dt>Project</dt><dd>${link}</dd>`), 'a fact')
  t.match(page, /<select name="assetId">\s*<option value="" selected>None<\/option>/)
  t.ok((await open('/app/issues')).includes(link), 'a cell')
  const form = await open('/app/issues/new')
  t.ok(form.includes(`<option value="${projectId}"><bdi>A &lt;fence&gt;</bdi></option>`))
  t.notOk(form.includes('Theirs'), 'rows of another tenant')

  const sent = { title: 'y', assetId: '', blockedById: '', assigneeId: '', reviewerId: '' }
  const post = (project: number) =>
    test.app.inject({
      ...{ method: 'POST', url: '/app/issues/new' },
      payload: new URLSearchParams({
        ...{ ...sent, projectId: String(project), submission: crypto.randomUUID() },
      }).toString(),
      headers: { cookie: ours.cookie, 'content-type': 'application/x-www-form-urlencoded' },
    })
  t.equal((await post(projectId)).statusCode, 303)
  t.equal((await post(foreign)).statusCode, 400)
})

t.test('a unique key is refused with its fields, and free in another tenant', async (t) => {
  const projectId = await create(ours, '/projects', { title: 'A fence' })
  const other = await create(ours, '/projects', { title: 'A wall' })
  await create(ours, '/issues', { title: 'Once', projectId })
  await create(ours, '/issues', { title: 'Once', projectId: other })
  const id = await create(ours, '/issues', { title: 'Twice', projectId })
  for (const answer of [
    await ours.send('POST', '/issues', { title: 'Once', projectId }),
    await ours.send('PATCH', `/issues/${id}`, { title: 'Once' }),
  ]) {
    t.equal(answer.statusCode, 409)
    t.match(answer.json(), {
      type: '/docs/errors/already-exists',
      detail: 'There is an issue with the same projectId, title already.',
      errors: [
        { in: 'body', pointer: '/projectId' },
        { in: 'body', pointer: '/title' },
      ],
    })
  }
  const key = { 'idempotency-key': crypto.randomUUID() }
  const twice = await ours.send('POST', '/issues', { title: 'Once', projectId }, key)
  t.equal(twice.statusCode, 409, 'with a key')
  const theirProject = await create(theirs, '/projects', { title: 'A fence' })
  await create(theirs, '/issues', { title: 'Once', projectId: theirProject })
})

t.test('a tenant is deleted with rows that refer to each other', async (t) => {
  const { user, send } = await owner(test, { role: 'admin' })
  const made = async (path: string, body: object) => (await send('POST', path, body)).json().id
  const projectId = await made('/projects', { title: 'A fence' })
  const assetId = await made('/assets', { ...asset.body })
  t.type(await made('/issues', { title: 'x', projectId, assetId }), 'number')
  await test.database.admin.query('DELETE FROM tenants WHERE id = $1', [user.tenantId])
  const { rows } = await test.database.admin.query('SELECT FROM issues WHERE tenant_id = $1', [
    user.tenantId,
  ])
  t.equal(rows.length, 0)
})

t.test('?expand= has the other rows in the same response', async (t) => {
  const projectId = await create(ours, '/projects', { title: 'A fence' })
  const assetId = await create(ours, '/assets', { ...asset.body })
  const id = await create(ours, '/issues', { title: 'x', projectId, assetId })
  const bare = await create(ours, '/issues', { title: 'y', projectId })
  const [row, project, whole] = [
    (await ours.send('GET', `/issues/${id}`)).json(),
    (await ours.send('GET', `/projects/${projectId}`)).json(),
    (await ours.send('GET', `/assets/${assetId}`)).json(),
  ]
  const { appraisal: _appraisal, remarks: _remarks, ...tool } = whole // those need a permission
  const read = async (query: string) => (await ours.send('GET', `/issues${query}`)).json()
  t.strictSame(await read(`/${id}?expand=project,asset`), { ...row, project, asset: tool })
  t.strictSame(await read(`/${id}?expand=asset`), { ...row, asset: tool })
  t.match(await read(`/${bare}?expand=asset,blockedBy`), { asset: null, blockedBy: null })
  const { data } = await read('?expand=project,asset&limit=2')
  t.match(data, [
    { id: bare, project, asset: null },
    { id, project, asset: tool },
  ])
  for (const query of [
    `/${id}?expand=tenant`,
    '?expand=project,',
    `/${id}?expand=`,
    '?expand=id',
  ]) {
    const refused = await ours.send('GET', `/issues${query}`)
    t.equal(refused.statusCode, 400, query)
    t.match(refused.json().errors, [
      {
        ...{ in: 'query', pointer: '/expand' },
        detail:
          'must be one or more of project, asset, blockedBy, assignee, reviewer, separated by commas',
      },
    ])
  }
  // Signed in just now, however long the tests before took: a token needs a recent sign-in.
  const colleague = await owner(test, { role: 'admin', tenantId: ours.user.tenantId })
  const limited = await colleague.make({ permissions: ['task:read'] })
  for (const path of [`/issues/${id}`, '/issues']) {
    t.equal((await limited.use('GET', path)).statusCode, 200, path)
    t.equal((await limited.use('GET', `${path}?expand=asset`)).statusCode, 403, path)
  }

  const foreign = await create(theirs, '/projects', { title: 'Theirs' })
  const { admin } = test.database
  await admin.query('ALTER TABLE issues DROP CONSTRAINT issues_project_id_fkey')
  await admin.query('UPDATE issues SET project_id = $1 WHERE id = $2', [foreign, id])
  t.equal((await read(`/${id}?expand=project`)).project, null, 'a row of another tenant')
  t.equal((await read('?expand=project')).data[1].project, null)
})

async function usage() {
  const { rows } = await test.database.admin.query(
    'SELECT counted[1]::int AS counted, stored[1]::int AS measured FROM measured_usage($1)',
    [ours.user.tenantId],
  )
  return rows[0]
}
