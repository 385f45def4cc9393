import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestApp } from 'gatehouse/testing'

const app = await startTestApp()
after(app.stop)

const milk = { title: 'Buy milk', status: 'open' }

test('a member adds a task, and a viewer of the tenant reads it', async () => {
  const member = await app.addPerson({ role: 'member' })
  const viewer = await app.addPerson({ role: 'viewer', tenantId: member.tenantId })
  const task = await member.send('POST', '/tasks', { ...milk, dueOn: '2030-01-31' })
  assert.equal(task.status, 201)
  const read = await viewer.send('GET', `/tasks/${task.body.id}`)
  assert.equal(read.body.dueOn, '2030-01-31')
  assert.equal((await viewer.send('POST', '/tasks', milk)).status, 403)
})

test('another tenant does not see it, not even its admin', async () => {
  const member = await app.addPerson({ role: 'member' })
  const stranger = await app.addPerson({ role: 'admin' })
  const task = await member.send('POST', '/tasks', milk)
  assert.equal((await stranger.send('GET', `/tasks/${task.body.id}`)).status, 404)
  assert.equal((await app.send('GET', `/tasks/${task.body.id}`)).status, 401)
})
