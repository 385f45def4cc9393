import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestApp } from 'gatehouse/testing'

const app = await startTestApp()
after(app.stop)

test('an editor writes a note, and a viewer of the tenant reads its title', async () => {
  const editor = await app.addPerson({ role: 'editor' })
  const viewer = await app.addPerson({ tenantId: editor.tenantId })
  const note = await editor.send('POST', '/notes', { title: 'Buy milk' })
  assert.equal(note.status, 201)
  const title = await viewer.send('GET', `/notes/${note.body.id}/title`)
  assert.deepEqual(title.body, { title: 'Buy milk' })
  assert.equal((await viewer.send('POST', '/notes', { title: 'x' })).status, 403)
})

test('nobody else sees it', async () => {
  const editor = await app.addPerson({ role: 'editor' })
  const stranger = await app.addPerson({ role: 'admin' })
  const { body } = await editor.send('POST', '/notes', { title: 'Ours' })
  assert.equal((await stranger.send('GET', `/notes/${body.id}/title`)).status, 404)
  assert.equal((await app.send('GET', `/notes/${body.id}/title`)).status, 401)
  const rows = await app.sql('SELECT title FROM notes WHERE id = $1', [body.id])
  assert.deepEqual(rows, [{ title: 'Ours' }])
})

test('a report is for editors and admins, about their tenant', async () => {
  const editor = await app.addPerson({ role: 'editor' })
  const viewer = await app.addPerson({ tenantId: editor.tenantId })
  const stranger = await app.addPerson({ role: 'admin' })
  await editor.send('POST', '/notes', { title: 'Ours' })
  const { body } = await editor.send('GET', '/report')
  assert.deepEqual(body, { authors: [{ authorId: editor.userId, notes: 1 }] })
  assert.deepEqual((await stranger.send('GET', '/report')).body, { authors: [] })
  assert.equal((await viewer.send('GET', '/report')).status, 403)
})

test('who pays has their notes filed', async () => {
  const payer = await app.addPerson({ role: 'editor', billingCustomer: 'cus_1' })
  const { body } = await payer.send('POST', '/notes', { title: 'Buy milk' })
  const { event } = await app.sendBillingEvent({ customer: 'cus_1' })
  assert.equal(event?.status, 'processed')
  await app.runJobs()
  const title = await payer.send('GET', `/notes/${body.id}/title`)
  assert.deepEqual(title.body, { title: 'Filed: Buy milk' })
})
