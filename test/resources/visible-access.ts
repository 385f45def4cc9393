import t from 'tap'
import { type AccessTable, expectAccess, startTestApp } from '#dev/testing/index.ts'

/* What `expectAccess` finds about rows and fields that some members see only, by the note of the archive app. */

const both = ['clerk', 'manager']
const table: AccessTable = {
  resources: {
    note: {
      example: { title: 'Closed gate' },
      visible: { clerk: 'own', manager: 'all' },
      fields: { cost: { callers: ['manager'], value: { amount: 4_900, currency: 'EUR' } } },
      ...{ read: both, create: both, update: both, delete: both },
    },
    room: { example: { title: 'Archive' }, read: both, create: both },
    // Its room is made of the example of rooms.
    key: { example: { title: 'Spare' }, read: ['manager'], create: ['manager'] },
  },
  routes: {
    'POST /pings': { callers: ['manager', 'service'] },
    'POST /audit-pings': { callers: ['manager', 'service'] },
    'POST /own-pings': { callers: both },
    'POST /tenant-pings': { callers: both },
  },
}

const differencesOf = async (app: Parameters<typeof expectAccess>[0], wanted: AccessTable) =>
  expectAccess(app, wanted).then(
    (): string[] => [],
    (error: Error) => error.message.split('\n  '),
  )

t.test('rows that a caller does not see are 404, in no list and not counted', async (t) => {
  const app = await startTestApp()
  t.teardown(app.stop)
  await expectAccess(app, table)
})

t.test('a route that states a rule of the core is compared with its row', async (t) => {
  const app = await startTestApp()
  t.teardown(app.stop)
  const wrong = {
    ...{ 'POST /pings': { callers: both }, 'POST /own-pings': { callers: ['manager'] } },
  }
  t.strictSame(
    (await differencesOf(app, { ...table, routes: { ...table.routes, ...wrong } })).slice(1),
    [
      'clerk may not POST /pings: expected 200, got 403',
      'clerk may POST /own-pings: expected 403, got 202',
      'service token may POST /pings: expected 403, got 202',
      'service token of another tenant may POST /pings: expected 403, got 202',
    ],
  )
})

t.test('a lock that shows them is found, whichever it is', async (t) => {
  const app = await startTestApp()
  t.teardown(app.stop)
  await app.sql('ALTER POLICY visible ON notes USING (true)')
  const lines = await differencesOf(app, table)
  for (const [method, status] of [
    ['GET', 200],
    ['PATCH', 200],
    ['DELETE', 204],
  ]) {
    const line = `clerk may ${method} /notes/:id, a colleague’s: expected 404, got ${status} (row-level security alone)`
    t.ok(lines.includes(line), line)
  }
  t.ok(lines.every((line) => !line.includes('query scope alone')))
})

t.test('a table that lets them see more or less than the app is refused', async (t) => {
  const app = await startTestApp()
  t.teardown(app.stop)
  const { note, ...others } = { ...table.resources }
  if (note === undefined) throw new Error('The table has no note.')
  const { visible: _, ...everybody } = note
  const lines = await differencesOf(app, { ...table, resources: { ...others, note: everybody } })
  for (const line of [
    /^clerk may not GET \/notes\/:id, a colleague’s: expected 200, got 404$/,
    /^clerk may GET \/notes: .*; \d+ objects are in the list or missing wrongly$/,
  ]) {
    t.ok(
      lines.some((one) => line.test(one)),
      String(line),
    )
  }
  const unknown = { ...note, visible: { owner: 'all' } } as const
  await t.rejects(expectAccess(app, { resources: { ...others, note: unknown } }), {
    message: 'The table lets owner do note:read: the app has the roles clerk, manager.',
  })
})

t.test('a row of the table names a caller whom no rule lets do it', async (t) => {
  const app = await startTestApp()
  t.teardown(app.stop)
  const { note, ...others } = { ...table.resources }
  if (note === undefined) throw new Error('The table has no note.')
  const withService = { ...note, read: [...both, 'service'] }
  const cases: [AccessTable, RegExp][] = [
    [
      { ...table, routes: { ...table.routes, 'POST /own-pings': { callers: ['service'] } } },
      /lets service do POST \/own-pings, and the rule profile:read is for people/,
    ],
    [
      { ...table, resources: { ...others, note: withService } },
      /lets clerk, manager, service do note:read, and the rule note:read is for people/,
    ],
  ]
  for (const [wrong, message] of cases) await t.rejects(expectAccess(app, wrong), { message })
})

t.test('a field with a permission is seen and written by those of its row alone', async (t) => {
  const app = await startTestApp()
  t.teardown(app.stop)
  const { note, ...others } = { ...table.resources }
  if (note === undefined) throw new Error('The table has no note.')
  const { fields: _, ...without } = note
  const value = { amount: 4_900, currency: 'EUR' }
  const withFields = (fields: typeof note.fields) => ({
    ...table,
    resources: { ...others, note: { ...note, ...(fields && { fields }) } },
  })
  for (const [wrong, message] of [
    [{ ...table, resources: { ...others, note: without } }, /no row for the field note\.cost/],
    [
      withFields({ cost: { callers: ['manager', 'service'], value } }),
      /note\.cost names service: service tokens have no such field/,
    ],
    [
      withFields({ cost: { callers: ['manager'], value }, title: { callers: both, value } }),
      /no field with a permission for the row note\.title/,
    ],
    [withFields({ cost: { callers: ['owner'], value } }), /lets owner do note:read/],
  ] as const) {
    await t.rejects(expectAccess(app, wrong), { message })
  }
  const lacking = await differencesOf(app, withFields({ cost: { callers: both, value } }))
  const leaking = await differencesOf(app, withFields({ cost: { callers: [], value } }))
  for (const line of [
    'clerk may GET /notes/:id, their own: expected 200, got 200; it lacks the field cost',
    'clerk may GET /notes: expected 200, got 200; it lacks the field cost',
    'clerk may GET /app/notes/:id, their own: expected 200, got 200; it lacks the field cost',
    'clerk may not POST /notes with cost: expected 201, got 403',
    'clerk may not PATCH /notes/:id with cost, their own: expected 200, got 403',
    'clerk may not POST /app/notes/new with cost: expected 303, got 403',
    'clerk may not POST /app/notes/:id with cost, their own: expected 303, got 403',
  ]) {
    t.ok(lacking.includes(line), line)
  }
  for (const line of [
    'manager may GET /notes/:id, a colleague’s: expected 200, got 200; it has the field cost',
    'manager may GET /notes: expected 200, got 200; it has the field cost',
    'manager may GET /app/notes/:id, their own: expected 200, got 200; it has the field cost',
    'manager may PATCH /notes/:id with cost, their own: expected 403, got 200; it has the field cost',
    'manager may POST /app/notes/new with cost: expected 403, got 303',
  ]) {
    t.ok(leaking.includes(line), line)
  }
})
