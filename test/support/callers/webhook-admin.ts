import { as, createUser, signIn } from '#dev/testing/people.ts'
import type { TestApp } from '#test/support/app/app.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

/** A public address, so that no DNS lookup is needed. */
export const url = 'https://8.8.8.8/hook'

/** The admins of two new tenants. */
export async function twoAdmins(test: TestApp) {
  const one = await createUser(test.database, { role: 'admin' })
  const other = await createUser(test.database, { role: 'admin' })
  return {
    test,
    one,
    other,
    send: as(test, { cookie: (await signIn(test, one)).cookie }),
    sendAsOther: as(test, { cookie: (await signIn(test, other)).cookie }),
  }
}

/** A clock that only changes when it is set. */
export function standingClock(start: string) {
  let now = new Date(start)
  return {
    clock: { now: () => now },
    set: (time: string | number) => {
      now = new Date(time)
    },
  }
}

/** Inserts a replay of January to the endpoint, not yet processed; resolves to its id. */
export async function createReplayOf(
  { admin }: TestDatabase,
  { tenantId }: { tenantId: string },
  endpointId: string,
): Promise<string> {
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO endpoint_replays (tenant_id, endpoint_id, replay_from, replay_to, total)
     VALUES ($1, $2, '2026-01-01', '2026-02-01', 0) RETURNING id`,
    [tenantId, endpointId],
  )
  return String(rows[0]?.id)
}
