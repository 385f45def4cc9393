import type { JobResult, JobWithMetadata } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Database, Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { type Language, languageFor, wordsIn } from '#src/mail/language.ts'
import type { Mail, Mailer } from '#src/mail/mailer.ts'
import type { Reader } from '#src/mail/message.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { DueJobs } from '#src/queue/due-jobs.ts'
import { enterJobs, JobGone } from '#src/queue/enter-jobs.ts'
import type { AlertMailJob } from '#src/queue/queue.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { type AlertKind, alertMailQueue, isAlertKind } from './alerts.ts'
import { isWarned } from './forecast.ts'

export type AlertDeps = {
  db: Database
  /** Null without a mail server: alerts are only logged. */
  mailer: Mailer | null
  baseUrl: string
  listManagers(tx: Tx, scope: TenantScope): Promise<Reader[]>
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
 * Mails a notification once, to each manager in their language.
 * @param entry of the job
 * @returns `gone` if the endpoint is deleted, or the certificate of the warning has been renewed
 * @throws MailError
 */
export async function mailAlert(
  entry: Entry<TenantScope>,
  id: number,
  { db, mailer, baseUrl, listManagers, clock }: AlertDeps,
): Promise<AlertResult> {
  const [row, readers] = await db.read(entry, (tx, scope) =>
    Promise.all([findNotification(tx, scope, id), listManagers(tx, scope)]),
  )
  if (row === null) return { outcome: 'gone' }
  const about = { kind: row.kind, endpointId: row.endpointId }
  const alert = toAlert(row)
  if (alert === null) return { outcome: 'gone', ...about }
  if (row.mailedAt !== null) return { outcome: 'mailed-before', ...about }
  if (mailer === null) return { outcome: 'no-mailer', ...about }
  if (readers.length === 0) return { outcome: 'no-recipients', ...about }
  const byLanguage = Map.groupBy(readers, ({ locale }) => languageFor(locale))
  for (const [language, group] of byLanguage) {
    const to = group.map(({ address }) => address)
    await mailer.send(composeAlertMail(alert, { language, to }, baseUrl))
  }
  await db.write(entry, (tx, scope) =>
    tx.notification.updateMany({
      where: { tenantId: scope.tenantId, id },
      data: { mailedAt: clock.now() },
    }),
  )
  return { outcome: 'mailed', ...about }
}

type NotificationRow = {
  id: number
  kind: string
  endpointId: string
  createdAt: Date
  mailedAt: Date | null
  tenantId: string
  tenantName: string
  url: string
  certificateExpiresAt: Date | null
}

/** A notification with what its mail says; null if its endpoint is deleted. */
async function findNotification(
  tx: Tx,
  { tenantId }: TenantScope,
  id: number,
): Promise<NotificationRow | null> {
  const [row] = await tx.sql<NotificationRow>`
    SELECT n.id::int, n.kind, n.endpoint_id AS "endpointId", n.created_at AS "createdAt",
      n.mailed_at AS "mailedAt", n.tenant_id AS "tenantId", t.name AS "tenantName", e.url,
      s.certificate_expires_at AS "certificateExpiresAt"
    FROM notifications n
    JOIN tenants t ON t.id = n.tenant_id
    JOIN webhook_endpoints e ON e.tenant_id = n.tenant_id AND e.id = n.endpoint_id
    JOIN endpoint_states s ON s.tenant_id = n.tenant_id AND s.id = n.endpoint_id
    WHERE n.tenant_id = ${tenantId}::uuid AND n.id = ${id}::bigint`
  return row ?? null
}

type Alert = NotificationRow & { kind: AlertKind }

/** The alert as it holds now. @returns null if there is nothing to say any more */
function toAlert(row: NotificationRow): Alert | null {
  const { kind, certificateExpiresAt: found, createdAt } = row
  if (!isAlertKind(kind)) return null
  const isRenewed =
    kind === 'endpoint.certificate' && (found === null || !isWarned(found, createdAt))
  return isRenewed ? null : { ...row, kind }
}

/** A notification as mail. Of the customer's input the host and the tenant's name appear in its body. */
function composeAlertMail(
  { tenantId, id, kind, endpointId, url, createdAt, certificateExpiresAt, tenantName }: Alert,
  { language, to }: { language: Language; to: readonly string[] },
  baseUrl: string,
): Mail {
  const { time, alert: words } = wordsIn(language)
  const { subject, what, next } = words.kinds[kind]
  const expires = certificateExpiresAt === null ? '' : time(certificateExpiresAt)
  return {
    to,
    subject,
    message: {
      language,
      heading: [subject],
      paragraphs: [[what(new URL(url).host, expires)], [next]],
      action: { label: words.action, url: `${baseUrl}/app/webhooks/${endpointId}` },
      facts: [
        [words.time, [time(createdAt)]],
        [words.tenant, [{ of: tenantName }]],
        [words.endpoint, [endpointId]],
      ],
      footer: words.footer.map((sentence) => [sentence]),
    },
    id: `alert-${id}.${language}.${tenantId}@${new URL(baseUrl).hostname}`,
  }
}
