import type { JobResult, JobWithMetadata } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Database, Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import type { Mail, Mailer } from '#src/mail/mailer.ts'
import { readableTime } from '#src/mail/message.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { DueJobs } from '#src/queue/due-jobs.ts'
import { enterJobs, JobGone } from '#src/queue/enter-jobs.ts'
import type { AlertMailJob } from '#src/queue/queue.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { type AlertKind, alertMailQueue, isAlertKind } from './alerts.ts'

export type AlertDeps = {
  db: Database
  /** Null without a mail server: alerts are only logged. */
  mailer: Mailer | null
  baseUrl: string
  listManagers(tx: Tx, scope: TenantScope): Promise<string[]>
  clock: Clock
}

type Job = JobWithMetadata<AlertMailJob>

const batchSize = 5 // few at once: each waits for the mail server

/** Registers the handler that mails alerts to the owners of a tenant. */
export async function workAlerts(due: DueJobs, deps: AlertDeps, log: JobLog): Promise<void> {
  await due.work(
    alertMailQueue,
    { batchSize, perJobResults: true, includeMetadata: true },
    (jobs: Job[]) => Promise.all(jobs.map((job) => workAlert(job, deps, log))),
  )
}

async function workAlert(job: Job, deps: AlertDeps, log: JobLog): Promise<JobResult> {
  const { tenantId, notificationId } = job.data
  const entry = enterJobs(alertMailQueue, [job.id])
  try {
    const { outcome, kind, endpointId } = await mailAlert(entry, notificationId, deps)
    const isGood = kind === 'endpoint.recovered' || kind === 'endpoint.recovering'
    const level = isGood ? 'info' : 'warn'
    log[level]({ tenantId, notificationId, kind, endpointId, outcome }, 'endpoint alert handled')
    return { id: job.id, status: 'completed' }
  } catch (error) {
    if (error instanceof JobGone) {
      log.info({ tenantId, notificationId }, 'endpoint alert taken over by another worker')
      return { id: job.id, status: 'completed' }
    }
    const level = job.retryCount >= job.retryLimit ? 'error' : 'warn'
    log[level]({ tenantId, notificationId, err: error }, 'endpoint alert could not be mailed')
    return { id: job.id, status: 'failed' }
  }
}

type AlertResult = {
  outcome: 'mailed' | 'no-mailer' | 'no-recipients' | 'mailed-before' | 'gone'
  kind?: string
  endpointId?: string
}

/**
 * Mails a notification once.
 * @param entry of the job
 * @throws MailError
 */
export async function mailAlert(
  entry: Entry<TenantScope>,
  id: number,
  { db, mailer, baseUrl, listManagers, clock }: AlertDeps,
): Promise<AlertResult> {
  const [row, to, tenant] = await db.read(entry, (tx, scope) =>
    Promise.all([
      tx.notification.findFirst({ where: { tenantId: scope.tenantId, id } }),
      listManagers(tx, scope),
      tx.tenant.findFirst({ where: { id: scope.tenantId }, select: { name: true } }),
    ]),
  )
  if (row === null || tenant === null || !isAlertKind(row.kind)) return { outcome: 'gone' }
  const { tenantId, kind, endpointId, message, createdAt } = row
  const about = { kind, endpointId }
  if (row.mailedAt !== null) return { outcome: 'mailed-before', ...about }
  if (mailer === null) return { outcome: 'no-mailer', ...about }
  if (to.length === 0) return { outcome: 'no-recipients', ...about }
  const alert = { tenantId, id, kind, endpointId, message, createdAt, tenantName: tenant.name }
  await mailer.send(composeAlertMail(alert, to, baseUrl))
  await db.write(entry, (tx, scope) =>
    tx.notification.updateMany({
      where: { tenantId: scope.tenantId, id },
      data: { mailedAt: clock.now() },
    }),
  )
  return { outcome: 'mailed', ...about }
}

type Alert = {
  tenantId: string
  id: number
  kind: AlertKind
  endpointId: string
  message: string
  createdAt: Date
  tenantName: string
}

const subjects: Readonly<Record<AlertKind, string>> = {
  'endpoint.failing': 'A webhook endpoint is failing',
  'endpoint.disabled': 'A webhook endpoint was disabled',
  'endpoint.recovering': 'A webhook endpoint is recovering',
  'endpoint.recovered': 'A webhook endpoint has recovered',
  'endpoint.certificate': 'The certificate of a webhook endpoint expires soon',
}

const consequences: Readonly<Record<AlertKind, string>> = {
  'endpoint.failing':
    'New events are still sent to it. A failed delivery is tried again after 1, 5, 15 and 60 minutes, then every 6 hours; when one succeeds, the others follow.',
  'endpoint.disabled':
    'Nothing is sent to it until you enable it, unless you have allowed trial deliveries. Its events are kept and can be sent again.',
  'endpoint.recovering': 'If it fails again, the deliveries stop until the next trial.',
  'endpoint.recovered':
    'Deliveries that failed in the meantime have been sent again or are being sent.',
  'endpoint.certificate': 'Nothing has stopped yet: deliveries are still sent.',
}

/** A notification as mail. Of the customer's input the host and the tenant's name appear in its body. */
function composeAlertMail(alert: Alert, to: readonly string[], baseUrl: string): Mail {
  const { tenantId, id, kind, endpointId, message, createdAt, tenantName } = alert
  return {
    to,
    subject: subjects[kind],
    message: {
      heading: [subjects[kind]],
      paragraphs: [[message], [consequences[kind]]],
      action: { label: 'View the endpoint', url: `${baseUrl}/app/webhooks/${endpointId}` },
      facts: [
        ['Time', [readableTime(createdAt)]],
        ['Tenant', [{ of: tenantName }]],
        ['Endpoint', [endpointId]],
      ],
      footer: [
        [
          'The page is shown in the tenant of the endpoint: if you belong to several, switch to it first.',
        ],
        [
          'You receive this mail because you manage the users of this tenant. The same alert is sent at most once an hour.',
        ],
      ],
    },
    id: `alert-${id}.${tenantId}@${new URL(baseUrl).hostname}`,
  }
}
