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
  const { id } = await member.create('/tasks', { ...milk, dueOn: '2030-01-31' })
  const { body } = await member.send('GET', `/tasks/${id}`)
  assert.equal(body.dueOn, '2030-01-31')
})
