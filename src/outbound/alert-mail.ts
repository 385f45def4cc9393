import type { Mail } from '#src/mail/mailer.ts'
import type { AlertKind } from '#src/webhooks/endpoints/health.ts'

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
export function composeAlertMail(
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
