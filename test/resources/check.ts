import type { Test } from 'tap'
import { comparable } from '#dev/testing/access/request.ts'
import { type buildAt, noon } from '#test/support/app/at-time.ts'
import { edgeIds, smuggling } from '#test/support/app/probes.ts'
import { createFolder, createTeam } from '#test/support/callers/chain.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import type { Description } from './description.ts'

const later = '2026-03-04T13:00:00.000Z'

/**
 * What every declared resource does, apart from who may do it, which the access matrix asks: its answers,
 * versions, keys, refused input, events and lists.
 * @param test at noon (`buildAt`)
 */
export async function checkResource(
  t: Test,
  test: Awaited<ReturnType<typeof buildAt>>,
  one: Description,
): Promise<void> {
  const { path, body, change, rules, answer, events = {} } = one
  const { user, send, sendText } = await owner(test, { role: 'admin', department: 'sales' })
  const { tenantId, userId } = user
  const teamId = await createTeam(test.database, tenantId, [userId])
  const folderId = await createFolder(test.database, tenantId, teamId)
  const neededId = one.needs === undefined ? 0 : await createNeeded(one.needs.of)
  const facts = { tenantId, userId, department: 'sales', folderId, teamId, neededId }
  const full = {
    ...{ ...body, ...(rules.read?.reach === 'chain' && { folderId }) },
    ...(one.needs !== undefined && { [one.needs.key]: neededId }),
  }
  async function createNeeded({ path, body }: Description): Promise<number> {
    return (await send('POST', path, body)).json().id
  }
  const eventsOf = async () => {
    const { rows } = await test.database.admin.query<{ type: string; body: string }>(
      'SELECT type, body FROM outbound_events WHERE tenant_id = $1 ORDER BY created_at, sequence',
      [tenantId],
    )
    return rows.map(({ type, body }) => ({ type, data: JSON.parse(body).data }))
  }
  /** What events have of a row. */
  const told = (row: object) =>
    Object.fromEntries(Object.entries(row).filter(([key]) => !one.guarded?.includes(key)))
  t.equal(one.mark, undefined, 'the description was compared with what was wanted')
  for (const [id, status] of edgeIds) {
    t.equal((await send('GET', `${path}/${id}`)).statusCode, status, `GET ${path}/${id}`)
  }
  t.equal((await send('GET', `${path}?colour=red`)).statusCode, 400, 'an unknown filter')
  if (rules.create === undefined) return

  for (const [name, text] of smuggling(full)) {
    const { statusCode } = await sendText('POST', path, text)
    if (statusCode !== 400) t.fail(`POST ${path} with ${name}: ${statusCode}`)
  }
  t.strictSame((await send('GET', path)).json(), { data: [], nextCursor: null }, 'nothing yet')
  const made = await send('POST', path, full)
  t.equal(made.statusCode, 201, made.body)
  const row = made.json()
  const { id } = row
  t.strictSame(row, { id, ...answer?.(facts, noon) }, 'what a client gets')
  t.equal(made.headers.location, `${path}/${id}`)
  t.strictSame((await send('GET', `${path}/${id}`)).json(), row, 'the row by its id')
  t.strictSame((await send('GET', path)).json().data, [row], 'the row in the list')
  const published: object[] =
    events.POST === undefined ? [] : [{ type: events.POST, data: told(row) }]
  t.strictSame(await eventsOf(), published, 'the event of POST')

  const stranger = await owner(test, { role: 'admin' })
  const [foreign, missing] = [`${path}/${id}`, `${path}/987654321987`]
  t.strictSame(
    comparable(await stranger.send('GET', foreign)),
    comparable(await stranger.send('GET', missing)),
    'a foreign row is like a missing one',
  )
  if (rules.update !== undefined) {
    const tag = String(made.headers.etag)
    const ifMatch = (version: string) => ({ 'if-match': version })
    const stale = await send('PATCH', `${path}/${id}`, change, ifMatch('"another"'))
    t.equal(stale.statusCode, 412, 'another version')
    test.clock.time = later
    const changed = await send('PATCH', `${path}/${id}`, change, ifMatch(tag))
    t.equal(changed.statusCode, 200, changed.body)
    const expected = { ...row, ...change, ...one.computed, updatedAt: later }
    t.strictSame(changed.json(), expected, 'only what was sent has changed')
    t.equal(
      (await send('PATCH', `${path}/${id}`, change, ifMatch(tag))).statusCode,
      412,
      'the old one',
    )
    t.equal((await send('PATCH', `${path}/${id}`, {})).statusCode, 400, 'no change')
    for (const [name, text] of smuggling(change ?? {})) {
      const { statusCode } = await sendText('PATCH', `${path}/${id}`, text)
      if (statusCode !== 400) t.fail(`PATCH ${path} with ${name}: ${statusCode}`)
    }
    if (events.PATCH !== undefined)
      published.push({ type: events.PATCH, data: told(changed.json()) })
    t.strictSame(await eventsOf(), published, 'the event of PATCH')
  }
  if (rules.delete !== undefined) {
    const { body: last } = await send('GET', `${path}/${id}`)
    t.equal((await send('DELETE', `${path}/${id}`)).statusCode, 204)
    t.equal((await send('GET', `${path}/${id}`)).statusCode, 404, 'it is gone')
    t.equal((await send('DELETE', `${path}/${id}`)).statusCode, 404, 'once')
    if (events.DELETE !== undefined)
      published.push({ type: events.DELETE, data: told(JSON.parse(last)) })
    t.strictSame(await eventsOf(), published, 'the event of DELETE')
  }
  const sendTwice = async (method: 'POST' | 'PATCH', url: string, sent: typeof change) => {
    const key = { 'idempotency-key': crypto.randomUUID() }
    const first = await send(method, url, sent, key)
    const again = await send(method, url, sent, key)
    t.equal(first.statusCode, method === 'POST' ? 201 : 200, first.body)
    t.equal(again.headers['idempotent-replayed'], 'true', 'the same request has one effect')
    t.equal(again.body, first.body)
    const type = events[method]
    if (type !== undefined) published.push({ type, data: told(first.json()) })
    t.strictSame(await eventsOf(), published, `the event of ${method} with a key, once`)
    return first.json()
  }
  const other = await sendTwice('POST', path, full)
  if (rules.update !== undefined) await sendTwice('PATCH', `${path}/${other.id}`, change)
}
