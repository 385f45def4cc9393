import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { expectAccess, startTestApp } from 'gatehouse/testing'

const app = await startTestApp()
after(app.stop)

const milk = { title: 'Buy milk', status: 'open' }

test('who may do what', async () => {
  const writers = ['member', 'admin']
  await expectAccess(app, {
    resources: {
      task: {
        example: milk,
        read: ['viewer', ...writers],
        create: writers,
        update: writers,
        delete: writers,
      },
    },
  })
})

test('a task has a day on which it is due', async () => {
  const member = await app.addPerson({ role: 'member' })
  const task = await member.send('POST', '/tasks', { ...milk, dueOn: '2030-01-31' })
  assert.equal(task.status, 201)
  const read = await member.send('GET', `/tasks/${task.body.id}`)
  assert.equal(read.body.dueOn, '2030-01-31')
})
