import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import type { Subject } from '#src/access/policy.ts'
import { openDatabase } from '#src/db/database.ts'
import { createLogger } from '#src/observability/logger.ts'
import type { Enqueue } from '#src/resources/define-job.ts'
import type { Asking } from '#src/resources/kit/fields/field.ts'
import { actionsOf } from '#src/rows/actions.ts'
import type { Declared } from '#src/rows/table.ts'
import { exampleData } from '#src/webhooks/events/examples.ts'
import { eventKinds } from '#src/webhooks/events/kinds.ts'
import { buildAt } from '#test/support/app/at-time.ts'
import { serviceOwner } from '#test/support/callers/service-owner.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { addTask } from '#test/support/small-app/jobs.ts'
import { tasks } from '#test/support/small-app/resources/tasks.ts'

/* Actions of the app's own on a row, by the tasks of the small app. */

const test = await buildAt(t)
const { admin } = test.database
const ours = await owner(test, { role: 'editor' })
const { tenantId, userId } = ours.user
const theirs = await owner(test, { role: 'admin' })
const manager = await owner(test, { role: 'accountant', tenantId })
// Now, because a token needs a recent sign-in, and these tests may come minutes later.
const limited = await manager.make({ permissions: ['task:write'] })

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

t.test('a row of another tenant cannot be acted on, nor one without the permission', async (t) => {
  const id = await createTask()
  t.equal((await theirs.send('POST', `/tasks/${id}/finish`)).statusCode, 404)
  t.equal((await ours.send('POST', `/tasks/${id}/rename`, { title: 'x' })).statusCode, 403)
  t.equal((await manager.send('POST', `/tasks/${id}/rename`, { title: 'x' })).statusCode, 200)
  t.equal((await limited.use('POST', `/tasks/${id}/rename`, { title: 'y' })).statusCode, 403)
  const { make } = await serviceOwner(test, { tenantId })
  const service = await make(['task:finish'])
  t.equal((await service.use('POST', `/tasks/${id}/rename`, { title: 'z' })).statusCode, 403)
  t.equal((await service.use('POST', `/tasks/${id}/finish`)).statusCode, 200, 'what it names')
  t.match((await ours.send('GET', `/tasks/${id}`)).json(), { title: 'x', status: 'done' })
})

t.test('an event has data of its own, which its schema describes', async (t) => {
  const id = await createTask('Paint it')
  t.equal((await ours.send('POST', `/tasks/${id}/remind`)).statusCode, 200)
  const published = async () =>
    (
      await admin.query(
        `SELECT body::jsonb->'data' AS data FROM outbound_events
         WHERE tenant_id = $1 AND type = 'task.reminded'`,
        [tenantId],
      )
    ).rows
  t.strictSame(await published(), [{ data: { taskId: id, letters: 8 } }])
  const short = await createTask('x')
  const refused = await ours.send('POST', `/tasks/${short}/remind`)
  t.equal(refused.statusCode, 500, 'a mistake of the app, in whose log it is')
  t.equal((await published()).length, 1)
  t.strictSame(await auditOf(short), [], 'nothing of it is left')
  const example = exampleData('task.reminded', { ...ours.user, endpointId: '' }, new Date())
  t.match(example, { taskId: Number, letters: Number })
  t.match(
    eventKinds.find(({ type }) => type === 'task.reminded'),
    { data: { properties: { taskId: {}, letters: {} } } },
    'its schema is in the description of the API',
  )
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

t.test('the audit log says which action it was, and finds it', async (t) => {
  const [one, other] = [await createTask(), await createTask()]
  t.equal((await ours.send('POST', `/tasks/${one}/finish`)).statusCode, 200)
  const renaming = await manager.send('POST', `/tasks/${other}/rename`, { title: 'Oil it' })
  t.equal(renaming.statusCode, 200)
  const admin = await owner(test, { role: 'admin', tenantId })
  const list = async (action: string) =>
    (await admin.send('GET', `/audit?action=${action}`)).json().data
  const finished = await list('task:finish')
  t.ok(finished.some(({ target }: { target: string }) => target === String(one)))
  for (const entry of finished) t.match(entry, { action: 'row-action', reason: 'task:finish' })
  t.ok((await list('row-action')).length > finished.length, 'of all actions')
  t.equal((await admin.send('GET', '/audit?action=task:')).statusCode, 400)

  const read = async (query: string) =>
    (await admin.send('GET', `/app/audit${query}`, undefined, { accept: 'text/html' })).body
  const renamed = await read('?action=task:rename')
  t.match(renamed, `Give another title: task<br><a href="/app/tasks/${other}">task ${other}</a>`)
  t.notMatch(renamed, `<a href="/app/tasks/${one}">`)
  t.match(renamed, /<option value="task:rename" selected>Give another title: task</)
  t.match(await read('?action=task:finish'), /Finish a task<br>/)
})

type Run = NonNullable<Declared['actions']['update']>['run'] & {}

/** Finishes a new task by this override, in a transaction of at most a second. */
async function finishBy(t: Test, run: Run) {
  const database = await createDatabase(t)
  const user = await createUser(database, { role: 'admin' })
  const { rows } = await database.admin.query(
    `INSERT INTO tasks (tenant_id, title, status) VALUES ($1, 'Oil it', 'open') RETURNING id::int`,
    [user.tenantId],
  )
  const enter = await allowScopes<
    Asking & Subject & { readonly userId: number; readonly tenantId: string }
  >(database)
  const db = openDatabase(database.url, 2, { ...patient, transactionMs: 1_000 })
  t.teardown(() => db.close())
  const finish = { permission: 'task:write', event: 'finished', run } as const
  const { perform } = actionsOf({ ...tasks, own: { finish } } as Declared)
  const { id } = rows[0]
  const caller = {
    ...{ ...user, role: 'admin', department: null, plan: null, serviceId: null, operator: false },
    ...{ tokenPermissions: null, sessionId: crypto.randomUUID(), authenticatedSecondsAgo: 0 },
  }
  const error = await db
    .write(enter(caller), (tx) =>
      perform({ tx, caller, now: new Date() }, { name: 'finish', id, body: {} }),
    )
    .then(
      () => null,
      (error: unknown) => error,
    )
  const left = await database.admin.query(
    `SELECT (SELECT status FROM tasks WHERE id = $1) AS status,
       (SELECT count(*)::int FROM pgboss.job WHERE name = 'app-job') AS jobs,
       (SELECT count(*)::int FROM outbound_events WHERE type = 'task.finished') AS events`,
    [id],
  )
  return { error, left: left.rows[0] }
}

const nothing = { status: 'open', jobs: 0, events: 0 }
type Work = {
  update(values: object): Promise<object>
  enqueue: Enqueue
  refuse(detail: string, field?: string): never
}

t.test('what an override does is one commit with the action', async (t) => {
  const { error, left } = await finishBy(t, async (act) => {
    const { update, enqueue } = act as Work
    await enqueue(addTask, { title: 'and another' })
    return update({ status: 'done' })
  })
  t.equal(error, null)
  t.strictSame(left, { status: 'done', jobs: 1, events: 1 })
})

t.test('an override refuses, and nothing of it is left', async (t) => {
  for (const [field, code] of [
    [undefined, 'conflict'],
    ['title', 'malformed'],
  ] as const) {
    const { error, left } = await finishBy(t, async (act) => {
      const { update, enqueue, refuse } = act as Work
      await enqueue(addTask, { title: 'never' })
      await update({ status: 'done' })
      return refuse('is too short', field)
    })
    t.match(error, { name: 'Problem', code })
    const fields =
      field === undefined ? [] : [{ in: 'body', pointer: '/title', detail: 'is too short' }]
    t.strictSame(Object(error).fields, fields)
    t.strictSame(left, nothing)
  }
})

t.test('a field that no action names is never left out silently', async (t) => {
  const words = (what: string, key: string) =>
    `${what} cannot write ${key}, which no such action has in accepts or sets. Add it to sets of the action that writes it.`
  const { error, left } = await finishBy(t, async (act) =>
    (act as Work).update({ status: 'done', authorId: null }),
  )
  t.match(error, {
    message: words('A change of a task', 'authorId'),
    thrownIn: 'run of task:finish',
  })
  t.strictSame(left, nothing)

  const { insertion, changing } = actionsOf(tasks as Declared)
  const caller = { userId: 1, tenantId: crypto.randomUUID() } as Asking
  const now = new Date()
  for (const key of ['status', 'authorId']) {
    t.doesNotThrow(() => insertion(caller, { title: 'Oil it', [key]: undefined }, now), key)
  }
  t.throws(() => insertion(caller, { title: 'Oil it', tenantId: 'another' }, now), {
    message: words('A new task', 'tenantId'),
  })
  t.throws(() => changing(caller, 1, { updatedAt: now }, now), {
    message: words('A change of a task', 'updatedAt'),
  })
})

t.test('an override that throws or never ends leaves nothing, and the log names it', async (t) => {
  const failing = await finishBy(t, async (act) => {
    await (act as Work).update({ status: 'done' })
    throw new TypeError('a mistake')
  })
  t.strictSame(failing.left, nothing)
  const lines: string[] = []
  const logger = createLogger('info', { write: (line) => void lines.push(line) })
  logger.error({ err: failing.error }, 'internal')
  const [line = ''] = lines
  t.match(JSON.parse(line).err, { message: 'a mistake', thrownIn: 'run of task:finish' })

  const endless = await finishBy(t, async (act) => {
    await (act as Work).update({ status: 'done' })
    return new Promise(() => {})
  })
  t.match(endless.error, { code: 'ETIMEDOUT' })
  t.strictSame(endless.left, nothing)
})
