import t from 'tap'
import { buildAt } from '#test/support/app/at-time.ts'
import { owner } from '#test/support/callers/token-owner.ts'

/* What the page of a row shows of the rows below it, by the room of the archive app. */

const test = await buildAt(t)
const manager = await owner(test, { role: 'manager' })
const { tenantId } = manager.user
const clerk = await owner(test, { role: 'clerk', tenantId })
const { id: roomId } = (await manager.send('POST', '/rooms', { title: 'Archive' })).json()
const write = (who: typeof manager, title: string) => who.send('POST', '/notes', { title, roomId })
const show = async ({ send }: typeof manager) =>
  (await send('GET', `/app/rooms/${roomId}`, undefined, { accept: 'text/html' })).body
const titles = (page: string) =>
  [...page.matchAll(/<bdi>((?:seen|unseen) \d+)<\/bdi><\/a>/g)].map(([, title]) => title)

t.test('rows that the reader does not see are neither shown nor counted', async (t) => {
  for (let n = 1; n <= 6; n += 1) {
    await write(manager, `unseen ${n}`)
    await write(clerk, `seen ${n}`)
  }
  const seen = await show(clerk)
  t.strictSame(
    titles(seen).sort(),
    [1, 2, 3, 4, 5, 6].map((n) => `seen ${n}`),
  )
  t.notMatch(seen, 'unseen 1')
  t.notMatch(seen, 'All notes', 'those that the reader does not see are no reason for more')
  t.match(await show(manager), 'All notes', 'the manager sees twelve')
  const list = (await clerk.send('GET', `/rooms/${roomId}/notes?count=true`)).json()
  t.equal(list.data.length, 6)
  t.strictSame(list.count, { rows: 6, more: false })
  t.equal((await clerk.send('GET', `/rooms/${roomId}/notes?page=2`)).statusCode, 400)
})

t.test('rows that the reader may not read have no section', async (t) => {
  const created = await manager.send('POST', '/keys', { roomId, title: 'The spare one' })
  t.equal(created.statusCode, 201, created.body)
  t.match(await show(manager), 'The spare one')
  t.match(await show(manager), '<h2 id="keys">Keys</h2>')
  const page = await show(clerk)
  t.notMatch(page, 'The spare one')
  t.notMatch(page, 'Keys')
  t.equal((await clerk.send('GET', `/rooms/${roomId}/keys`)).statusCode, 403)
})
