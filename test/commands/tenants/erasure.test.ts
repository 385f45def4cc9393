import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createDocument, createFolder, createTeam } from '#test/support/callers/chain.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { runProgram } from '#test/support/processes/program.ts'

t.test('user export, user erase, tenant export and tenant delete', async (t) => {
  const database = await createDatabase(t)
  const ada = await createUser(database, {
    ...{ role: 'admin', email: 'ada@example.com', emailVerified: true },
  })
  const eve = await createUser(database, { role: 'admin' })
  const other = await createUser(database, { tenantId: eve.tenantId })
  const orderId = await createOrder(database, ada)
  const folderId = await createFolder(
    database,
    ada.tenantId,
    await createTeam(database, ada.tenantId, []),
  )
  const documentId = await createDocument(database, folderId)
  const run = async (words: string[]) => {
    const program = await runProgram(t, words, {
      NODE_ENV: 'production',
      DATABASE_OWNER_URL: database.ownerUrl,
    })
    return { status: await program.ended, output: program.results(), told: program.messages() }
  }
  const own = await run(['user', 'export', 'ada@example.com'])
  t.equal(own.status, 0, own.told)
  t.match(JSON.parse(own.output), {
    profile: [{ id: ada.userId }],
    orders: [{ id: orderId, cardLast4: '4242' }],
  })
  const whole = await run(['tenant', 'export', ada.tenantId])
  t.equal(whole.status, 0, whole.told)
  t.match(JSON.parse(whole.output), {
    tenant: [{ id: ada.tenantId }],
    users: [{ id: ada.userId, email: 'ada@example.com' }],
    orders: [{ id: orderId }],
    documents: [{ id: documentId }],
  })
  await t.rejects(
    database.admin.query(`SELECT export_page('tenant', 'nothing', NULL, $1, NULL, 1)`, [
      ada.tenantId,
    ]),
    { code: '22023' },
    'a section that does not exist',
  )

  t.equal((await run(['user', 'erase', 'ada@example.com'])).status, 2, 'not confirmed')
  const blocked = await run(['user', 'erase', String(eve.userId), '--yes'])
  t.equal(blocked.status, 1)
  t.match(blocked.told, /Make another member an admin first, or delete the tenant: “Tenant /)
  await database.admin.query(`UPDATE memberships SET role = 'admin' WHERE user_id = $1`, [
    other.userId,
  ])
  const unblocked = await run(['user', 'erase', String(eve.userId), '--yes'])
  t.equal(unblocked.status, 0, unblocked.told)
  t.match((await run(['user', 'erase', 'nobody@example.com', '--yes'])).told, 'no such user')
  const erased = await run(['user', 'erase', 'ada@example.com', '--yes', '--json'])
  t.strictSame(JSON.parse(erased.output), { userId: ada.userId, erased: true })

  const remove = (name: string) => run(['tenant', 'delete', eve.tenantId, '--name', name])
  t.match((await remove('another')).told, 'another name')
  const deleted = await remove(`Tenant ${eve.tenantId.slice(0, 8)}`)
  t.equal(deleted.status, 0, deleted.told)
  t.match((await run(['tenant', 'export', eve.tenantId])).told, 'no such tenant')
  const { rows } = await database.admin.query(
    `SELECT (SELECT count(*)::int FROM users) AS users,
            (SELECT count(*)::int FROM tenants) AS tenants,
            (SELECT count(*)::int FROM erasures) AS erasures`,
  )
  t.strictSame(rows, [{ users: 0, tenants: 0, erasures: 0 }])
})

t.test('the commands need the owner of the database', async (t) => {
  const database = await createDatabase(t)
  for (const url of [database.url, database.workerUrl]) {
    const program = await runProgram(t, ['user', 'export', '1'], {
      NODE_ENV: 'production',
      DATABASE_OWNER_URL: url,
    })
    t.equal(await program.ended, 1)
    t.match(program.messages(), 'does not own the tables')
  }
})
