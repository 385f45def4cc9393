import type { JobResult, JobWithMetadata } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import type { Database, Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { languageFor, wordsIn } from '#src/mail/language.ts'
import type { Mail, Mailer } from '#src/mail/mailer.ts'
import type { Words } from '#src/mail/message.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { DueJobs } from '#src/queue/due-jobs.ts'
import { enterJobs, JobGone } from '#src/queue/enter-jobs.ts'
import type { InvitationMailJob } from '#src/queue/queue.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { invitationUrl } from './invitation-link.ts'

export type InvitationMailDeps = {
  db: Database
  /** Null without a mail server. The members page shows the link in any case. */
  mailer: Mailer | null
  baseUrl: string
  /** The keys from which the links are derived. */
  keys: EncryptionKeys
  clock: Clock
}

type Job = JobWithMetadata<InvitationMailJob>

const queueName = 'invitation-mail'
const batchSize = 5 // few at once: each waits for the mail server

/** Registers the handler that mails invitations. */
export async function workInvitationMails(
  due: DueJobs,
  deps: InvitationMailDeps,
  log: JobLog,
): Promise<void> {
  await due.work(
    queueName,
    { batchSize, perJobResults: true, includeMetadata: true },
    (jobs: Job[]) => Promise.all(jobs.map((job) => workInvitationMail(job, deps, log))),
  )
}

async function workInvitationMail(
  job: Job,
  deps: InvitationMailDeps,
  log: JobLog,
): Promise<JobResult> {
  const { tenantId, invitationId } = job.data
  const entry = enterJobs(queueName, [job.id])
  try {
    const outcome = await mailInvitation(entry, invitationId, deps)
    log.info({ tenantId, invitationId, outcome }, 'invitation mail handled')
    return { id: job.id, status: 'completed' }
  } catch (error) {
    if (error instanceof JobGone) {
      log.info({ tenantId, invitationId }, 'invitation mail taken over by another worker')
      return { id: job.id, status: 'completed' }
    }
    const level = job.retryCount >= job.retryLimit ? 'error' : 'warn'
    log[level]({ tenantId, invitationId, err: error }, 'invitation could not be mailed')
    return { id: job.id, status: 'failed' }
  }
}

/**
 * Mails an open invitation once to the invited address.
 * @param entry of the job
 * @returns `gone` if the invitation was answered, withdrawn or replaced; `held-back` if the address has
 *   declined one or has had its mails of the day, or the tenant has sent all of its own
 * @throws MailError
 */
export async function mailInvitation(
  entry: Entry<TenantScope>,
  id: string,
  { db, mailer, clock, ...origin }: InvitationMailDeps,
): Promise<'mailed' | 'no-mailer' | 'mailed-before' | 'held-back' | 'gone'> {
  if (mailer === null) return 'no-mailer'
  const mail = await db.read(entry, (tx, scope) => findInvitation(tx, scope, id))
  if (mail === null) return 'gone'
  if (mail.mailedAt !== null) return 'mailed-before'
  if (!(await db.write(entry, (tx) => claimMail(tx, id)))) return 'held-back'
  await mailer.send(composeInvitationMail(mail, origin))
  await db.write(entry, (tx, { tenantId }) =>
    tx.invitation.updateMany({ where: { tenantId, id }, data: { mailedAt: clock.now() } }),
  )
  return 'mailed'
}

/** Mails with invitations that a tenant sends a day (UTC). */
export const maxMailsPerDay = 100
/** Mails with invitations that an address gets a day from all tenants together, one from each. */
export const maxMailsToAddress = 5

async function claimMail({ sql }: Tx, id: string): Promise<boolean> {
  const [row] = await sql<{ claimed: boolean }>`
    SELECT claim_invitation_mail(
      ${id}::uuid, ${maxMailsPerDay}::int, ${maxMailsToAddress}::int) AS claimed`
  return row?.claimed === true
}

type InvitationMail = {
  id: string
  email: string
  role: string
  expiresAt: Date
  mailedAt: Date | null
  linkHash: Uint8Array | null
  tenantName: string
  inviter: string | null
  inviterName: string | null
  inviterLocale: string | null
}

/** An open invitation; the inviter is null if they are no member any more. */
async function findInvitation(
  tx: Tx,
  { tenantId }: TenantScope,
  id: string,
): Promise<InvitationMail | null> {
  const [row] = await tx.sql<InvitationMail>`
    SELECT i.id, i.email, i.role, i.expires_at AS "expiresAt", i.mailed_at AS "mailedAt",
      i.link_hash AS "linkHash",
      t.name AS "tenantName", u.email AS inviter, u.name AS "inviterName",
      u.locale AS "inviterLocale"
    FROM invitations i JOIN tenants t ON t.id = i.tenant_id LEFT JOIN users u ON u.id = i.invited_by
    WHERE i.tenant_id = ${tenantId}::uuid AND i.id = ${id}::uuid
      AND i.accepted_at IS NULL AND i.declined_at IS NULL`
  return row ?? null
}

/**
 * In the language of the inviter: what the invited person reads is not known. Names of people and tenants are
 * their own choice, so they appear in the body only.
 */
function composeInvitationMail(invitation: InvitationMail, origin: Origin): Mail {
  const { id, email, role, expiresAt, tenantName, linkHash, inviterLocale } = invitation
  const language = languageFor(inviterLocale)
  const { time, invitation: words } = wordsIn(language)
  const tenant = { of: tenantName }
  return {
    to: [email],
    subject: words.subject,
    message: {
      language,
      heading: words.heading(tenant),
      paragraphs: [
        words.what(inviterOf(invitation, words.somebody), tenant, role),
        words.next({ of: email }),
      ],
      action: { label: words.action, url: invitationUrl(origin, id, linkHash) },
      facts: [[words.expires, [time(expiresAt)]]],
      footer: words.footer.map((sentence) => [sentence]),
    },
    id: `invitation-${id}@${new URL(origin.baseUrl).hostname}`,
  }
}

type Origin = Pick<InvitationMailDeps, 'baseUrl' | 'keys'>

/** @param somebody for an inviter without an address and a name */
function inviterOf({ inviter, inviterName }: InvitationMail, somebody: string): Words {
  if (inviter === null) return [inviterName === null ? somebody : { of: inviterName }]
  return inviterName === null
    ? [{ of: inviter }]
    : [{ of: inviterName }, ' (', { of: inviter }, ')']
}
