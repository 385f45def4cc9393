import t from 'tap'
import { buildAt } from '#test/support/app/at-time.ts'
import { serviceOwner } from '#test/support/callers/service-owner.ts'
import { owner } from '#test/support/callers/token-owner.ts'

/* Actions of the app's own on a row, by the tasks of the small app. */

const test = await buildAt(t)
const { admin } = test.database
const ours = await owner(test, { role: 'editor' })
const { tenantId, userId } = ours.user
const theirs = await owner(test, { role: 'admin' })
const manager = await owner(test, { role: 'accountant', tenantId })

async function createTask(title = 'Oil the gate'): Promise<number> {
  return (await ours.send('POST', '/tasks', { title })).json().id
}
const typesOf = async (id: number) =>
  (
    await admin.query(
      `SELECT type FROM outbound_events WHERE tenant_id = $1 AND body::jsonb->'data'->>'id' = $2
       ORDER BY sequence`,
      [tenantId, String(id)],
    )
  ).rows.map(({ type }) => type)
const auditOf = async (id: number) =>
  (
    await admin.query(
      `SELECT outcome, reason, user_id::int AS by FROM audit_log
       WHERE action = 'row-action' AND tenant_id = $1 AND target = $2`,
      [tenantId, String(id)],
    )
  ).rows

t.test('an action changes the row, publishes its event and is in the audit log', async (t) => {
  const id = await createTask()
  const finished = await ours.send('POST', `/tasks/${id}/finish`)
  t.equal(finished.statusCode, 200)
  t.match(finished.json(), { id, status: 'done' })
  t.ok(finished.headers.etag)
  t.strictSame(await typesOf(id), ['task.created', 'task.finished'])
  t.strictSame(await auditOf(id), [{ outcome: 'done', reason: 'task:finish', by: userId }])

  const again = await ours.send('POST', `/tasks/${id}/finish`)
  t.equal(again.statusCode, 403)
  t.match(again.json(), { detail: 'The task is done already.' })
  t.strictSame(await typesOf(id), ['task.created', 'task.finished'], 'nothing of it is left')
  t.equal((await auditOf(id)).length, 1)
})

t.test('nobody acts on a row of another tenant, or without the permission', async (t) => {
  const id = await createTask()
  t.equal((await theirs.send('POST', `/tasks/${id}/finish`)).statusCode, 404)
  t.equal((await ours.send('POST', `/tasks/${id}/rename`, { title: 'x' })).statusCode, 403)
  t.equal((await manager.send('POST', `/tasks/${id}/rename`, { title: 'x' })).statusCode, 200)
  const limited = await manager.make({ permissions: ['task:write'] })
  t.equal((await limited.use('POST', `/tasks/${id}/rename`, { title: 'y' })).statusCode, 403)
  const { make } = await serviceOwner(test, { tenantId })
  const service = await make(['task:finish'])
  t.equal((await service.use('POST', `/tasks/${id}/rename`, { title: 'z' })).statusCode, 403)
  t.equal((await service.use('POST', `/tasks/${id}/finish`)).statusCode, 200, 'what it names')
  t.match((await ours.send('GET', `/tasks/${id}`)).json(), { title: 'x', status: 'done' })
})

t.test('its body has what it accepts and nothing else', async (t) => {
  const id = await createTask()
  for (const body of [{}, { title: '' }, { title: 'x', status: 'done' }]) {
    const { statusCode } = await manager.send('POST', `/tasks/${id}/rename`, body)
    t.equal(statusCode, 400, JSON.stringify(body))
  }
})

t.test('If-Match and Idempotency-Key hold as for a change', async (t) => {
  const id = await createTask()
  const { headers } = await ours.send('GET', `/tasks/${id}`)
  await manager.send('POST', `/tasks/${id}/rename`, { title: 'Changed meanwhile' })
  const stale = { 'if-match': String(headers.etag) }
  const refused = await ours.send('POST', `/tasks/${id}/finish`, undefined, stale)
  t.equal(refused.statusCode, 412)
  const key = { 'idempotency-key': crypto.randomUUID() }
  const [first, second] = [
    await ours.send('POST', `/tasks/${id}/finish`, undefined, key),
    await ours.send('POST', `/tasks/${id}/finish`, undefined, key),
  ]
  t.equal(first.statusCode, 200)
  t.strictSame(second.json(), first.json(), 'done once')
  t.equal((await auditOf(id)).filter(({ reason }) => reason === 'task:finish').length, 1)
})

t.test('the page of a row has its button while the row and the role allow it', async (t) => {
  const id = await createTask()
  const open = async (who: typeof ours) =>
    (await who.send('GET', `/app/tasks/${id}`, undefined, { accept: 'text/html' })).body
  t.match(await open(ours), new RegExp(`action="/app/tasks/${id}/finish"`))
  t.notMatch(await open(ours), '/rename', 'not without the permission')
  t.match(await open(manager), 'Give another title')
  const submit = (who: typeof ours, fields: Record<string, string>, action: string) =>
    test.app.inject({
      ...{ method: 'POST', url: `/app/tasks/${id}/${action}` },
      payload: new URLSearchParams({ ...fields, submission: crypto.randomUUID() }).toString(),
      headers: { cookie: who.cookie, 'content-type': 'application/x-www-form-urlencoded' },
    })
  const renamed = await submit(manager, { title: 'By a form' }, 'rename')
  t.equal(renamed.statusCode, 303)
  t.equal(renamed.headers.location, `/app/tasks/${id}?done=changed`)
  t.match(await open(ours), 'By a form')
  t.equal((await submit(ours, {}, 'finish')).statusCode, 303)
  t.notMatch(await open(ours), `/app/tasks/${id}/finish`, 'not when the condition forbids it')
  t.equal((await submit(ours, {}, 'finish')).statusCode, 403)
  t.equal((await submit(theirs, {}, 'finish')).statusCode, 404)
})

t.test('the description of the API has it, so that client and command have it too', async (t) => {
  const { paths } = (await test.app.inject({ url: '/openapi.json' })).json()
  const { post } = paths['/tasks/{id}/finish']
  t.match(post, { operationId: 'finishTask', summary: 'Finish a task', tags: ['tasks'] })
  t.match(JSON.stringify(post.parameters), /idempotency-key.*if-match|if-match.*idempotency-key/i)
  t.strictSame(
    Object.keys(
      paths['/tasks/{id}/rename'].post.requestBody.content['application/json'].schema.properties ??
        {},
    ),
    paths['/tasks/{id}/rename'].post.requestBody.content['application/json'].schema.$ref
      ? []
      : ['title'],
  )
})
