import pg from 'pg'
import type { Urls } from '#dev/testing/logins.ts'
import { addAppToken } from '#test/support/callers/app-caller.ts'

/** Registers an event type with a schema, and publishes an event that matches it and one that does not. */
export async function publishChecked(address: string, { ownerUrl }: Urls): Promise<number[]> {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  const { token } = await addAppToken({ admin: client })
  const { rows } = await client.query<{ id: string }>('SELECT id FROM tenants LIMIT 1')
  await client.end()
  const path = `/tenants/${rows[0]?.id}/events`
  const send = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    return (await fetch(address + path, { method, headers, body: JSON.stringify(body) })).status
  }
  const schema = { required: ['pages'] }
  await send('PUT', '/event-types/report.finished', { description: 'x', schema })
  const publish = (data: object) => send('POST', path, { type: 'report.finished', data })
  return [await publish({ pages: 1 }), await publish({})]
}
