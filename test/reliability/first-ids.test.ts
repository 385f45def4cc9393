import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { askPatiently, startInstance } from './instance.ts'

t.test('the checks at start use up no ids: the first user and the first post are 1', async (t) => {
  const database = await createDatabase(t)
  const first = await startInstance(t, database)
  first.child.kill('SIGTERM')
  t.equal(await first.ended, 0)
  const instance = await startInstance(t, database)

  const user = await createUser(database, { role: 'admin' })
  t.equal(user.userId, 1)
  const { cookie } = await signIn({ config: testConfig(database), database }, user)
  const headers = { cookie, 'content-type': 'application/json' }
  const body = JSON.stringify({ title: 'First', body: 'Text', department: 'sales' })
  const made = await askPatiently(instance, { method: 'POST', path: '/posts', headers, body })
  t.equal(made.status, 201, made.body)
  t.equal(JSON.parse(made.body).id, 1)
})
