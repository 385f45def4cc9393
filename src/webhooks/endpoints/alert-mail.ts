import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import type { Database, TenantScope, Tx } from '#src/db/database.ts'
import type { Mail, Mailer } from '#src/mail/mailer.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { AlertMailJob } from '#src/queue/queue.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { alertMailQueue } from './alerts.ts'
import { type AlertKind, isAlertKind } from './health.ts'

export type AlertDeps = {
  db: Database
  /** Null without a mail server: the log has to do. */
  mailer: Mailer | null
  baseUrl: string
  listManagers(tx: Tx, scope: TenantScope): Promise<string[]>
  clock: Clock
}

type Job = JobWithMetadata<AlertMailJob>

const pollSeconds = 0.5
const batchSize = 5 // few at once: each waits for the mail server

/** Starts mailing what owners are to be told. */
export async function workAlerts(queue: PgBoss, deps: AlertDeps, log: JobLog): Promise<void> {
  await queue.work(
    alertMailQueue,
    { batchSize, pollingIntervalSeconds: pollSeconds, perJobResults: true, includeMetadata: true },
    (jobs: Job[]) => Promise.all(jobs.map((job) => workAlert(job, deps, log))),
  )
}

async function workAlert(job: Job, deps: AlertDeps, log: JobLog): Promise<JobResult> {
  const { tenantId, notificationId } = job.data
  try {
    const { outcome, kind, endpointId } = await mailAlert(job.data, deps)
    const level = kind === 'endpoint.recovered' ? 'info' : 'warn'
    log[level](
      { tenantId, notificationId, kind, endpointId, outcome },
      'owners told of an endpoint',
    )
    return { id: job.id, status: 'completed' }
  } catch (error) {
    const level = job.retryCount >= job.retryLimit ? 'error' : 'warn'
    log[level]({ tenantId, notificationId, err: error }, 'alert could not be mailed')
    return { id: job.id, status: 'failed' }
  }
}

type Told = {
  outcome: 'mailed' | 'not-mailed' | 'nobody' | 'before' | 'gone'
  kind?: string
  endpointId?: string
}

/** Mails a notification, if that was not done before. @throws MailError */
export async function mailAlert(
  { tenantId, notificationId: id }: AlertMailJob,
  { db, mailer, baseUrl, listManagers, clock }: AlertDeps,
): Promise<Told> {
  const scope = { tenantId }
  const found = await db.read(scope, async (tx) => ({
    row: await tx.notification.findFirst({ where: { tenantId, id } }),
    to: await listManagers(tx, scope),
  }))
  const { row, to } = found
  if (row === null || !isAlertKind(row.kind)) return { outcome: 'gone' }
  const { kind, endpointId, message, createdAt } = row
  const about = { kind, endpointId }
  if (row.mailedAt !== null) return { outcome: 'before', ...about }
  if (mailer === null) return { outcome: 'not-mailed', ...about }
  if (to.length === 0) return { outcome: 'nobody', ...about }
  const notification: Notification = { tenantId, id, kind, endpointId, message, createdAt }
  await mailer.send(composeAlertMail(notification, to, baseUrl))
  await db.write(scope, (tx) =>
    tx.notification.updateMany({ where: { tenantId, id }, data: { mailedAt: clock.now() } }),
  )
  return { outcome: 'mailed', ...about }
}

export type Notification = {
  tenantId: string
  id: number
  kind: AlertKind
  endpointId: string
  message: string
  createdAt: Date
}

const subjects: Readonly<Record<AlertKind, string>> = {
  'endpoint.failing': 'A webhook endpoint is failing',
  'endpoint.disabled': 'A webhook endpoint was disabled',
  'endpoint.recovered': 'A webhook endpoint has recovered',
}

const consequences: Readonly<Record<AlertKind, string>> = {
  'endpoint.failing': 'New events are sent to it as before. What has failed can be sent again.',
  'endpoint.disabled':
    'Nothing more is sent to it until you enable it. Its events are kept and can be sent again.',
  'endpoint.recovered': 'What has failed before can be sent again.',
}

/** A notification as mail: nothing a customer has chosen but the host, and that in the text only. */
function composeAlertMail(
  notification: Notification,
  to: readonly string[],
  baseUrl: string,
): Mail {
  const { tenantId, id, kind, endpointId, message, createdAt } = notification
  return {
    to,
    subject: subjects[kind],
    text: [
      message,
      consequences[kind],
      '',
      `Time: ${createdAt.toISOString()}`,
      `Endpoint: ${endpointId}`,
      `More: ${baseUrl}/`,
      '',
      'You are told because you manage users there. The same is said once an hour at most.',
      '',
    ].join('\n'),
    id: `alert-${id}.${tenantId}@${new URL(baseUrl).hostname}`,
  }
}
