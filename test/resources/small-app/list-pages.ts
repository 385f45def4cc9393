import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { buildAt } from '#test/support/app/at-time.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { asset } from '#test/support/small-app/test/asset.ts'

/* The pages of lists, by the assets, issues, projects and tasks of the small app. */

const test = await buildAt(t)
const ours = await owner(test, { role: 'admin' })
const theirs = await owner(test, { role: 'admin' })
const html = { accept: 'text/html' }

const name = (userId: number, text: string) =>
  test.database.admin.query('UPDATE users SET name = $2 WHERE id = $1', [userId, text])
const create = async (who: typeof ours, path: string, body: object): Promise<number> => {
  const answer = await who.send('POST', path, body)
  if (answer.statusCode !== 201) throw new Error(answer.body)
  return answer.json().id
}
const open = async (path: string, who = ours) => who.send('GET', path, undefined, html)
const show = async (path: string, who = ours) => {
  const { statusCode, body } = await open(path, who)
  t.equal(statusCode, 200, `${path}: ${statusCode}`)
  return body as string
}
const titlesIn = (page: string) =>
  [...page.matchAll(/<bdi>([a-z]\d?)<\/bdi><\/a>/g)].map(([, title]) => title).join('')
const optionsOf = (page: string, name: string) => {
  const [, select = ''] = new RegExp(`<select name="${name}".*?>(.*?)</select>`).exec(page) ?? []
  return [...select.matchAll(/<option value="([^"]*)"( selected)?>(.*?)<\/option>/g)].map(
    ([, value, selected, label]) =>
      `${value}${selected ? ' chosen' : ''} ${label?.replaceAll(/<\/?bdi>/g, '')}`,
  )
}

t.test('a list is filtered by rows and members that are chosen by name', async (t) => {
  const { user } = ours
  const [fence, wall] = [
    await create(ours, '/projects', { title: 'A <fence>' }),
    await create(ours, '/projects', { title: 'A wall' }),
  ]
  const hidden = await create(theirs, '/projects', { title: 'Theirs' })
  const bob = await createUser(test.database, { tenantId: user.tenantId })
  await name(bob.userId, 'Bob <b>')
  await create(ours, '/issues', { title: 'a', projectId: fence, assigneeId: bob.userId })
  await create(ours, '/issues', { title: 'b', projectId: wall })
  const page = await show(`/app/issues?projectId=${fence}&assigneeId=`)
  t.equal(titlesIn(page), 'a')
  t.strictSame(optionsOf(page, 'projectId'), [
    ' Every project',
    `${wall} A wall`,
    `${fence} chosen A &lt;fence&gt;`,
  ])
  t.match(optionsOf(page, 'assigneeId').join('\n'), `${bob.userId} Bob &lt;b&gt;`)
  t.notMatch(page, 'Theirs')
  t.notMatch(page, 'name="sort" value', 'the order is a choice')
  const foreign = await show(`/app/issues?projectId=${hidden}`)
  t.equal(titlesIn(foreign), '')
  t.match(optionsOf(foreign, 'projectId'), [' Every project', `${hidden} chosen ${hidden}`])
  t.notMatch(foreign, 'Theirs', 'the name of a row of another tenant')
  const several = await show(`/app/issues?projectId%5Bin%5D=${fence},${hidden}`)
  t.equal(titlesIn(several), 'a')
  t.match(several, `<input type="hidden" name="projectId[in]" value="${fence},${hidden}">Project: `)
  t.match(several, 'href="/app/issues" aria-label="Remove the filter Project"')
})

t.test('a filter offers the newest rows, and the one in use however old it is', async (t) => {
  const many = await owner(test, { role: 'admin' })
  const first = await create(many, '/projects', { title: 'The first' })
  await test.database.admin.query(
    `INSERT INTO projects (tenant_id, title)
     SELECT $1, 'p' || n FROM generate_series(1, 200) AS n`,
    [many.user.tenantId],
  )
  const page = await show('/app/issues', many)
  t.equal(optionsOf(page, 'projectId').length, 201)
  t.notMatch(page, 'The first')
  const used = optionsOf(await show(`/app/issues?projectId=${first}`, many), 'projectId')
  t.equal(used.length, 202)
  t.equal(used.at(-1), `${first} chosen The first`)
  const form = await show(`/app/issues/new?projectId=${first}`, many)
  t.match(form, `<option value="${first}" selected><bdi>The first</bdi></option>`)
})

t.test('ranges are those of the API, and stay with order and page', async (t) => {
  const { endsOn: _, ...rest } = asset.body as Record<string, unknown>
  const rows = [
    { name: 'a', boughtOn: '2026-01-01', weight: '2' },
    { name: 'b', boughtOn: '2026-01-02', weight: '10' },
    { name: 'c', boughtOn: '2026-01-03', weight: '-1' },
  ]
  for (const one of rows) await create(ours, '/assets', { ...rest, ...one })
  const queries = {
    'boughtOn%5Bgte%5D=2026-01-02': 'cb',
    'boughtOn%5Bgte%5D=2026-01-02&boughtOn%5Blt%5D=2026-01-03': 'b',
    'boughtOn=2026-01-01&boughtOn%5Blt%5D=': 'a',
    'weight%5Bgte%5D=2': 'ba',
    'weight%5Blt%5D=0&q=&state=': 'c',
    'from=2100-01-01T00%3A00': '',
    'to=2100-01-01T00%3A00': 'cba',
    'to=2100-01-01T00%3A00%3A00Z': 'cba',
    'from=1999-12-31T23%3A59%3A59.5': 'cba',
  }
  for (const [query, names] of Object.entries(queries)) {
    t.equal(titlesIn(await show(`/app/assets?${query}`)), names, query)
  }
  const page = await show('/app/assets?boughtOn%5Bgte%5D=2026-01-02&to=2100-01-01T00%3A00')
  t.match(page, '<details class="more" open>')
  t.match(page, '<label>From <input type="date" name="boughtOn[gte]" value="2026-01-02"></label>')
  t.match(page, 'type="datetime-local" step="any" name="to" value="2100-01-01T00:00">')
  t.match(
    page,
    'href="/app/assets?to=2100-01-01T00%3A00%3A00.000Z&amp;boughtOn%5Bgte%5D=2026-01-02&amp;sort=boughtOn"',
  )
  t.match(await show('/app/assets'), '<details class="more"><summary>')
  for (const query of [
    'boughtOn%5Bgte%5D=2026-02-30',
    'from=2026-02-30T10%3A00',
    'from=tomorrow',
    'weight%5Blt%5D=heavy',
  ]) {
    t.equal((await open(`/app/assets?${query}`)).statusCode, 400, query)
  }
})

t.test('a column of authors has names, read with the rows', async (t) => {
  const { user } = ours
  const ada = await owner(test, { role: 'admin', tenantId: user.tenantId })
  const left = await owner(test, { role: 'admin', tenantId: user.tenantId })
  await name(ada.user.userId, 'Ada <i>')
  await name(left.user.userId, 'Left')
  for (const who of [ada, left, left]) await create(who, '/tasks', { title: 'a' })
  await create(theirs, '/tasks', { title: 'theirs' })
  await test.database.admin.query('DELETE FROM memberships WHERE user_id = $1', [left.user.userId])
  const page = await show('/app/tasks')
  t.match(page, 'data-label="Author"><bdi>Ada &lt;i&gt;</bdi>')
  t.match(page, `data-label="Author">User ${left.user.userId}<`, 'the name of who has left')
  t.notMatch(page, 'Left')
  t.notMatch(page, 'Author id')
  t.match(page, 'aria-label="Author"')
  const own = await show(`/app/tasks?authorId=${ada.user.userId}`)
  t.equal(titlesIn(own), 'a')
  t.match(own, '1 in all.')
})

t.test('the page of a row leads to the form of a row below it', async (t) => {
  const id = await create(ours, '/projects', { title: 'Below' })
  const viewer = await owner(test, { role: 'viewer', tenantId: ours.user.tenantId })
  const hidden = await create(theirs, '/projects', { title: 'Theirs' })
  const link = `href="/app/issues/new?projectId=${id}">New issue</a>`
  t.match(await show(`/app/projects/${id}`), link)
  t.notMatch(await show(`/app/projects/${id}`, viewer), '/app/issues/new', 'who may not create one')
  t.match(await show(`/app/issues/new?projectId=${id}`), `value="${id}" selected><bdi>Below</bdi>`)
  const foreign = await show(`/app/issues/new?projectId=${hidden}`)
  t.notMatch(foreign, 'Theirs')
  t.notMatch(foreign, `value="${hidden}"`)
  t.equal((await open('/app/issues/new?projectId=x')).statusCode, 400)
  t.equal((await open(`/app/issues/new?projectId=${id}`, viewer)).statusCode, 403)
})
