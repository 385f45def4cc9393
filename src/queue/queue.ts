import { PgBoss, type QueueOptions } from 'pg-boss'
import { type Limits, openingMs, poolOptions } from '#src/db/connections/pool-options.ts'
import { withoutLimits, withSettings } from '#src/db/connections/session-settings.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'

/** Name and payload of every job. Jobs carry ids, never contents. */
export type Jobs = {
  'billing-event': EventJob
  'billing-event-dead': EventJob
  'revoke-grant': { revocationId: string }
  'billing-replay': { replayId: string }
  /** A customer was linked to a user: processes what waited for it. */
  'billing-linked': { customer: string }
  /** Posts a processed event to the app. */
  'billing-forward': { eventId: string; attempts: number }
  'billing-reconciliation': { reconciliationId: string }
  /** Begins the next scheduled run. */
  'billing-reconciliation-schedule': Record<string, never>
  /** One turn of a tenant: a page of one of its replays. */
  'tenant-replay': { tenantId: string }
  /** `since`: earlier events have been handled by a previous run (RFC 3339). */
  'billing-retention': { since?: string }
  /** The right to deliver what is due to an endpoint. */
  'endpoint-turn': EndpointTurnJob
  /** Adds a due attempt that was lost. */
  deliver: DeliverJob
  /** Releases deliveries of an endpoint that are held. */
  'endpoint-drain': { tenantId: string; endpointId: string }
  /** Starts a trial delivery. `at`: when it was planned for, in ms since 1970. */
  'endpoint-trial': { tenantId: string; endpointId: string; at: number }
  /** Looks at when the certificate of an endpoint expires. */
  'endpoint-forecast': { tenantId: string; endpointId: string }
  /** A call of the URL of an endpoint, whose result an HTTP request waits for. */
  'endpoint-call': EndpointCallJob
  'outbound-retention': Record<string, never>
  /** Checks whether every event and delivery is accounted for. */
  ledger: Record<string, never>
  'alert-mail': AlertMailJob
  'invitation-mail': InvitationMailJob
  /** A job that the app declares. */
  'app-job': AppJob
  /** Jobs of the app after their last try. Nothing takes them. */
  'app-job-dead': AppJob
  /** Adds a job for each tenant, page by page. */
  'app-schedule': ScheduledJob
}

type Queue = Omit<QueueOptions, 'name'> & { policy?: 'short'; deadLetter?: string }

/** Between heartbeats of a job in progress. */
export const heartbeatMs = 1_000

// Only makes pg-boss send heartbeats: takeover.ts notices a dead worker long before. Longer than
// most outages of the database, after which pg-boss would take jobs from living workers.
const heartbeatSeconds = 900

/** Queues of `workPeriodically`. */
export type PeriodicQueue =
  | 'billing-reconciliation-schedule'
  | 'billing-retention'
  | 'outbound-retention'
  | 'ledger'

// At most one job waits, however many processes send one.
const periodic = {
  policy: 'short',
  retryLimit: 1_000,
  retryDelay: 60,
  retryBackoff: true,
  retryDelayMax: 3_600,
} as const

// A dead-letter queue is listed before the queue that refers to it, because it is created first.
const queues = {
  // Also gets the jobs whose worker ended during the last try and could not record it.
  'billing-event-dead': {
    retryLimit: 1_000,
    retryDelay: 60,
    retryDelayMax: 3_600,
    retryBackoff: true,
  },
  // 1 s, 2 s, 4 s … up to an hour, about two days in all. Then the event is dead.
  'billing-event': {
    deadLetter: 'billing-event-dead',
    retryLimit: 20,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 60,
    deleteAfterSeconds: 86_400, // the result is in the row of the event
  },
  // 1 s, 2 s, 4 s … up to an hour, about twelve hours in all. The next day they begin again.
  'revoke-grant': {
    retryLimit: 22,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 60,
  },
  // One page of a replay per job. The same commit enqueues the next page.
  'billing-replay': { retryLimit: 20, retryDelay: 1, retryBackoff: true, expireInSeconds: 300 },
  'billing-linked': { retryLimit: 20, retryDelay: 1, retryBackoff: true, expireInSeconds: 300 },
  // The same job makes every attempt: it is postponed by the schedule of deliveries. It is retried without
  // limit when its worker ends, because the event has no other.
  'billing-forward': {
    retryLimit: 1_000_000,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    expireInSeconds: 300,
    retentionSeconds: 2_592_000,
  },
  // A run continues where it was interrupted; a run that fails is recorded and not retried.
  'billing-reconciliation': {
    retryLimit: 20,
    retryDelay: 1,
    retryBackoff: true,
    expireInSeconds: 900,
  },
  'billing-reconciliation-schedule': { ...periodic, expireInSeconds: 60 },
  // At most one job of a tenant waits, so tenants take turns however many replays each has. It is
  // retried without limit, because it is the only job of all these replays.
  'tenant-replay': {
    policy: 'short',
    retryLimit: 1_000_000,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    expireInSeconds: 60,
  },
  'billing-retention': { ...periodic, expireInSeconds: 300 },
  // At most one job of an endpoint waits, and one for each second in which a retry becomes due. It is
  // retried without limit, because the attempts have no other.
  'endpoint-turn': {
    policy: 'short',
    retryLimit: 1_000_000,
    retryDelay: 1, // does not grow, because the next worker continues a dead one's turn
    expireInSeconds: 86_400, // a busy endpoint's turn is long; heartbeats tell whether its worker lives
    deleteAfterSeconds: 60,
    retentionSeconds: 2_592_000,
  },
  deliver: {
    retryLimit: 1_000_000,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    expireInSeconds: 900,
    deleteAfterSeconds: 3_600,
    retentionSeconds: 2_592_000,
  },
  // At most one job of an endpoint waits. It is retried without limit: the deliveries have no other.
  'endpoint-drain': {
    policy: 'short',
    retryLimit: 1_000_000,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    expireInSeconds: 60,
  },
  // The only job of a recovery, so it is retried without limit.
  'endpoint-trial': {
    retryLimit: 1_000_000,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    expireInSeconds: 60,
  },
  // At most one job of an endpoint waits.
  'endpoint-forecast': {
    policy: 'short',
    retryLimit: 1_000_000,
    retryDelay: 60,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 60,
  },
  // Tried once, because each try is a request to a customer. Useless once the waiting request has given up.
  'endpoint-call': {
    retryLimit: 0,
    expireInSeconds: 60,
    deleteAfterSeconds: 60,
    retentionSeconds: 60,
  },
  'outbound-retention': { ...periodic, expireInSeconds: 900 },
  ledger: { ...periodic, expireInSeconds: 900 },
  // 1 s, 2 s, 4 s … up to an hour, about six hours in all. A later mail would be useless.
  'alert-mail': {
    retryLimit: 17,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 60,
  },
  // 30 s, 1 min, 2 min … up to an hour, about six hours in all. The invitation is also shown to the
  // invited person after sign-in.
  'invitation-mail': {
    retryLimit: 12,
    retryDelay: 30,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 60,
  },
  'app-job-dead': { retryLimit: 0, retentionSeconds: 2_592_000 },
  // 1 s, 2 s, 4 s … up to an hour, as often as the job says.
  'app-job': {
    deadLetter: 'app-job-dead',
    retryLimit: 12,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 3_600,
    expireInSeconds: 300,
    deleteAfterSeconds: 3_600,
    retentionSeconds: 2_592_000,
  },
  // The id of a job is that of its time, so a time that has passed must be known for longer than clocks differ.
  'app-schedule': {
    retryLimit: 1_000,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    expireInSeconds: 300,
    deleteAfterSeconds: 86_400,
    retentionSeconds: 2_592_000,
  },
} as const satisfies Record<keyof Jobs, Queue>

export const queueNames: readonly string[] = Object.keys(queues)
/**
 * Queues whose jobs all have a group: the endpoint of a delivery, the object of a billing event, the
 * tenant of a replay, of a call or of a job of the app.
 */
export const groupedQueues: readonly string[] = [
  'endpoint-turn',
  'deliver',
  'billing-event',
  'tenant-replay',
  'endpoint-call',
  'app-job',
]
export const ungroupedQueues = queueNames.filter((name) => !groupedQueues.includes(name))

// pg-boss closes a connection that opens too late for its caller. No request waits for this pool.
const webLimits = { acquireMs: openingMs }
// Deleting completed jobs may take longer than a request may.
const workerLimits = {
  ...webLimits,
  statementMs: statementTimeoutsMs.queueMaintenance,
  silenceMs: 31_000,
}

/**
 * Creates or updates the schema of pg-boss and the queues, as the owner of the database.
 * @param lockWaitMs how long each change waits for a lock before it fails
 * @param options further settings of its connections
 */
export async function createQueues(
  ownerUrl: string,
  lockWaitMs: number,
  options: Readonly<Record<string, string>> = {},
): Promise<void> {
  const connection = {
    ...withSettings(ownerUrl, { ...withoutLimits, ...options }),
    ...{ max: 2, lock_timeout: lockWaitMs },
  }
  const boss = new PgBoss({ ...connection, supervise: false, schedule: false })
  await boss.start()
  try {
    for (const [name, options] of Object.entries(queues)) {
      const { policy, ...rest }: Queue = options
      const changeable = { ...rest, heartbeatSeconds }
      if (await boss.getQueue(name)) await boss.updateQueue(name, changeable)
      else await boss.createQueue(name, { ...changeable, ...(policy && { policy }) })
    }
  } finally {
    await boss.stop({ graceful: false })
  }
}

/**
 * Opens the queue as an application role, which never changes its schema.
 * @param duty `web` only adds jobs; `worker` also fetches, completes and maintains them
 * @param limits other than usual, for tests
 */
export function openQueue(
  url: string,
  duty: 'web' | 'worker',
  onError: (error: Error) => void,
  limits: Partial<Limits> = {},
): PgBoss {
  const boss = new PgBoss({
    // pg-boss passes these to its own pool.
    ...poolOptions(url, duty === 'web' ? 1 : 4, {
      ...(duty === 'web' ? webLimits : workerLimits),
      ...limits,
    }),
    application_name: 'gatehouse queue',
    migrate: false,
    createSchema: false,
    schedule: false,
    supervise: duty === 'worker',
    reindex: false, // only the owner of an index can rebuild it
    ...pace,
  })
  boss.on('error', (error) => onError(toError(error)))
  return acceptNewerSchema(boss)
}

/*
 * The supervision of pg-boss only ends jobs that take too long in a worker that lives, and deletes old
 * ones; takeover.ts finds those of dead workers. Flows are not used.
 */
const pace = {
  superviseIntervalSeconds: 300,
  monitorIntervalSeconds: 300,
  queueCacheIntervalSeconds: 300,
  flowIntervalSeconds: 86_400,
  notifyHeartbeatIntervalMs: 30_000, // a lost notification costs three seconds (due-jobs.ts)
} as const

/** pg-boss reports some errors as plain objects with their members. */
function toError(reported: Error): Error {
  return reported instanceof Error ? reported : Object.assign(new Error(), reported)
}

/** The schema version of the pinned pg-boss. */
export const queueSchema = 43

/**
 * pg-boss starts only on its own schema version. During a rolling upgrade the database has the
 * version of the newer release already, and a process of this release must still be able to restart.
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

/**
 * One job processes one event. `replayId`: the replay that asked for it; it is tried once.
 * `requestId`, `traceparent`: the request that brought the event.
 */
export type EventJob = {
  eventId: string
  replayId?: string
  requestId?: string
  traceparent?: string
}

/** `userId`: whose example a test event is; null for a service. `at`: of a probe, in ms since 1970. */
export type EndpointCallJob = { tenantId: string; endpointId: string } & (
  | { kind: 'test'; type: string; userId: number | null }
  | { kind: 'probe'; at: number }
)

/** One job is one endpoint's turn. */
export type EndpointTurnJob = { tenantId: string; endpointId: string }

/** One attempt of a delivery. */
export type DeliverJob = {
  tenantId: string
  deliveryId: string
  /** 0 is the schedule; every replay begins the next one. */
  series: number
  /** The number of the attempt, from 1 within the series. */
  number: number
  /** Released from the rate-limit hold; must not be held again. */
  released?: true
}

/** The invitation to mail. */
export type InvitationMailJob = { tenantId: string; invitationId: string }

/** The notification to mail. */
export type AlertMailJob = { tenantId: string; notificationId: number }

/** `job`: its name; `input`: what it was enqueued with. */
export type AppJob = { tenantId: string; job: string; input: unknown }

/**
 * One time of a schedule. `at`: when it was due (RFC 3339); `after`: the tenant up to which the jobs have been added.
 */
export type ScheduledJob = { job: string; schedule: string; at: string; after: string }
