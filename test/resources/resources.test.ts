import t from 'tap'
import { resources } from '#src/resources/running-app.ts'
import { buildAt } from '#test/support/app/at-time.ts'
import { checkResource } from './check.ts'
import { descriptions } from './index.ts'

t.test('every declared resource is described a second time', async (t) => {
  t.strictSame(
    descriptions.map(({ name }) => name).toSorted(),
    resources.map(({ name }) => name).toSorted(),
  )
})

for (const description of descriptions) {
  t.test(`${description.path}: answers, versions, keys, events and lists`, async (t) => {
    await checkResource(t, await buildAt(t), description)
  })
}
