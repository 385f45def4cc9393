import type { Name, Words } from '../message.ts'

/** What a mail says about an endpoint. */
type AlertWords = {
  /** Also the heading. */
  subject: string
  /**
   * @param host of the endpoint's URL
   * @param expires when its certificate does, as a readable time; empty if none is known
   */
  what: (host: string, expires: string) => string
  /** What happens next, and what the reader can do. */
  next: string
}

const alerts = {
  'endpoint.failing': {
    subject: 'A webhook endpoint is failing',
    what: (host) =>
      `The webhook endpoint at ${host} is failing: all attempts of a delivery have failed.`,
    next: 'New events are still sent to it. A failed delivery is tried again after 1, 5, 15 and 60 minutes, then every 6 hours; when one succeeds, the others follow.',
  },
  'endpoint.disabled': {
    subject: 'A webhook endpoint was disabled',
    what: (host) => `The webhook endpoint at ${host} is disabled: it has failed for five days.`,
    next: 'Nothing is sent to it until you enable it, unless you have allowed trial deliveries. Its events are kept and can be sent again.',
  },
  'endpoint.recovering': {
    subject: 'A webhook endpoint is recovering',
    what: (host) =>
      `The webhook endpoint at ${host} has accepted a delivery again. Those that failed are sent again, slowly at first.`,
    next: 'If it fails again, the deliveries stop until the next trial.',
  },
  'endpoint.recovered': {
    subject: 'A webhook endpoint has recovered',
    what: (host) => `The webhook endpoint at ${host} accepts deliveries again.`,
    next: 'Deliveries that failed in the meantime have been sent again or are being sent.',
  },
  'endpoint.certificate': {
    subject: 'The certificate of a webhook endpoint expires soon',
    what: (host, expires) =>
      `The certificate of the webhook endpoint at ${host} expires on ${expires}. Renew it before, or deliveries fail.`,
    next: 'Nothing has stopped yet: deliveries are still sent.',
  },
} satisfies Record<string, AlertWords>

/** The words of every mail in English. A file of another language has the same keys. */
export const en = {
  /** A time for people: `10 December 2026 at 21:05 UTC`. */
  time: (at: Date): string =>
    `${at.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })} UTC`,
  openAddress: 'If the button does not work, open this address:',
  support: 'Support',
  invitation: {
    subject: 'You have been invited',
    heading: (tenant: Name): Words => ['Join ', tenant],
    /** For an inviter who is no member any more. */
    somebody: 'An admin',
    what: (inviter: Words, tenant: Name, role: string): Words => [
      ...inviter,
      ' has invited you to join “',
      tenant,
      `” as ${role}.`,
    ],
    next: (address: Name): Words => [
      'To accept or decline, open the invitation and sign in with ',
      address,
      '. Its link is for you alone and works once.',
    ],
    action: 'View the invitation',
    expires: 'Expires',
    footer: [
      'You become a member only if you accept it.',
      'If you do not know the sender, you can ignore this mail.',
    ],
  },
  alert: {
    kinds: alerts as Readonly<Record<keyof typeof alerts, AlertWords>>,
    action: 'View the endpoint',
    time: 'Time',
    tenant: 'Tenant',
    endpoint: 'Endpoint',
    footer: [
      'The page is shown in the tenant of the endpoint: if you belong to several, switch to it first.',
      'You receive this mail because you manage the users of this tenant. The same alert is sent at most once an hour.',
    ],
  },
}

/** The words of a language: a missing key does not compile. */
export type MailWords = typeof en
