import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestApp } from 'gatehouse/testing'

const app = await startTestApp()
after(app.stop)

test('a person is a member of a tenant with a role', async () => {
  const admin = await app.addPerson({ role: 'admin' })
  const { status, body } = await admin.send('GET', '/me')
  assert.equal(status, 200)
  assert.equal(body.role, 'admin')
  assert.equal((await app.send('GET', '/me')).status, 401)
})
