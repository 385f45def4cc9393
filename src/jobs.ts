import { PgBoss } from 'pg-boss'

/** Name and payload of every job. Jobs carry keys, never contents. */
export type Jobs = {
  'billing-event': { eventId: string }
  'revoke-grant': { revocationId: string }
}

const queues = {
  // 1 s, 2 s, 4 s … up to an hour, some two days in all, then the event is dead.
  'billing-event': {
    retryLimit: 20,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 60,
  },
  // 5 s, 10 s, 20 s … up to an hour, some twelve hours in all, then it is for the operator to see.
  'revoke-grant': {
    retryLimit: 20,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 60,
  },
} as const satisfies Record<keyof Jobs, object>

/** Creates or updates the queue's own schema and the queues, as the owner of the database. */
export async function createQueues(ownerUrl: string): Promise<void> {
  const boss = new PgBoss({ connectionString: ownerUrl, supervise: false, schedule: false, max: 2 })
  await boss.start()
  try {
    for (const [name, options] of Object.entries(queues)) {
      if (await boss.getQueue(name)) await boss.updateQueue(name, options)
      else await boss.createQueue(name, options)
    }
  } finally {
    await boss.stop({ graceful: false })
  }
}

/**
 * The queue as an application role: it never changes its schema.
 * @param duty `web` only adds jobs; `worker` also takes, settles and maintains them
 */
export function openQueue(
  url: string,
  duty: 'web' | 'worker',
  onError: (error: Error) => void,
): PgBoss {
  const boss = new PgBoss({
    connectionString: url,
    application_name: 'gatehouse queue',
    max: duty === 'web' ? 1 : 4,
    migrate: false,
    createSchema: false,
    schedule: false,
    supervise: duty === 'worker',
    reindex: false, // only the owner of an index may rebuild it
    connectionTimeoutMillis: 1_000,
  })
  boss.on('error', onError)
  return boss
}
