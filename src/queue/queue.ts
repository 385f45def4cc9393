import { PgBoss, type QueueOptions } from 'pg-boss'
import { poolOptions } from '#src/db/pool-options.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
/** Name and payload of every job. Jobs carry keys, never contents. */
export type Jobs = {
  'billing-event': { eventId: string }
  'billing-event-dead': { eventId: string }
  'revoke-grant': { revocationId: string }
  'billing-replay': { replayId: string }
  'endpoint-replay': { tenantId: string; replayId: string }
  /** `since`: everything received before has been seen to (RFC 3339). */
  'billing-retention': { since?: string }
  deliver: DeliverJob
  'outbound-retention': Record<string, never>
  'alert-mail': AlertMailJob
}

type Queue = Omit<QueueOptions, 'name'> & { policy?: 'short'; deadLetter?: string }

// A queue stands behind the one its jobs go to when the last attempt has failed.
const queues = {
  // Also the jobs whose worker ended in the middle of that attempt and could not say so.
  'billing-event-dead': {
    retryLimit: 1_000,
    retryDelay: 60,
    retryDelayMax: 3_600,
    retryBackoff: true,
  },
  // 1 s, 2 s, 4 s … up to an hour, some two days in all, then the event is dead.
  'billing-event': {
    deadLetter: 'billing-event-dead',
    retryLimit: 20,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 60,
    deleteAfterSeconds: 86_400, // the event's own row says what became of it
  },
  // 5 s, 10 s, 20 s … up to an hour, some twelve hours in all, then it is for the operator to see.
  'revoke-grant': {
    retryLimit: 20,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 60,
  },
  // One page of a replay each; the page after it is sent with the same commit.
  'billing-replay': { retryLimit: 20, retryDelay: 1, retryBackoff: true, expireInSeconds: 300 },
  // One page of a replay each, as above.
  'endpoint-replay': { retryLimit: 20, retryDelay: 1, retryBackoff: true, expireInSeconds: 60 },
  // At most one waits, however many processes ask for it.
  'billing-retention': {
    policy: 'short',
    retryLimit: 1_000,
    retryDelay: 60,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 300,
  },
  // One attempt each. Its own failures are no business of the queue: what is tried again here is
  // an attempt that a process took with it, and that is never given up. An attempt takes 30 s at
  // most (OUTBOUND_TIMEOUT_MS), recording it 20 s.
  deliver: {
    retryLimit: 1_000_000,
    retryDelay: 0,
    expireInSeconds: 60,
    deleteAfterSeconds: 3_600,
    retentionSeconds: 2_592_000,
  },
  'outbound-retention': {
    policy: 'short',
    retryLimit: 1_000,
    retryDelay: 60,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 900,
  },
  // 30 s, 1 min, 2 min … up to an hour, some six hours in all: after that it is no news.
  'alert-mail': {
    retryLimit: 12,
    retryDelay: 30,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 60,
  },
} as const satisfies Record<keyof Jobs, Queue>

export const queueNames: readonly string[] = Object.keys(queues)

// Clearing away what is done may take longer than a request would wait.
const maintenanceLimits = { statementMs: statementTimeoutsMs.queueMaintenance, silenceMs: 31_000 }

/**
 * Creates or updates the queue's own schema and the queues, as the owner of the database.
 * @param lockWaitMs how long each change waits for a lock before it fails
 */
export async function createQueues(ownerUrl: string, lockWaitMs: number): Promise<void> {
  const connection = { connectionString: ownerUrl, lock_timeout: lockWaitMs, max: 2 }
  const boss = new PgBoss({ ...connection, supervise: false, schedule: false })
  await boss.start()
  try {
    for (const [name, options] of Object.entries(queues)) {
      const { policy, ...changeable }: Queue = options
      if (await boss.getQueue(name)) await boss.updateQueue(name, changeable)
      else await boss.createQueue(name, { ...changeable, ...(policy && { policy }) })
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
    // The queue hands all of them to its own pool.
    ...poolOptions(url, duty === 'web' ? 1 : 4, duty === 'web' ? {} : maintenanceLimits),
    application_name: 'gatehouse queue',
    migrate: false,
    createSchema: false,
    schedule: false,
    supervise: duty === 'worker',
    reindex: false, // only the owner of an index may rebuild it
  })
  boss.on('error', onError)
  return acceptNewerSchema(boss)
}

/** Of the queue's own tables, as the pinned version of the library makes them. */
export const queueSchema = 43

/**
 * The library starts on exactly its own schema. While a newer release is brought in, its schema is
 * there before the last process of this one has ended, and one that is started again must run as
 * those do that never stopped.
 */
function acceptNewerSchema(boss: PgBoss): PgBoss {
  const db = boss.getDb()
  const executeSql = db.executeSql.bind(db)
  db.executeSql = async (text, values) => {
    const result = await executeSql(text, values)
    if (!/^SELECT version from \S+\.version$/.test(text)) return result
    const rows = result.rows.map((row) => ({ ...row, version: Math.min(row.version, queueSchema) }))
    return { ...result, rows }
  }
  return boss
}

/** One job is one attempt: which delivery of which tenant, and which attempt of which series. */
export type DeliverJob = {
  tenantId: string
  deliveryId: string
  /** 0 is the schedule, every manual request begins the next one. */
  series: number
  /** From 1 within the series. */
  number: number
}

/** Which notification a mail is to be sent of. */
export type AlertMailJob = { tenantId: string; notificationId: number }
