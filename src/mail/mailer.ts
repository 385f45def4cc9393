import { createTransport } from 'nodemailer'
import { isPlainAddress, type MailConfig } from '#src/config/parse.ts'
import type { Body, Message } from './message.ts'

export type Mail = {
  to: readonly string[]
  subject: string
  message: Message
  /** The same for every attempt, so that mail programs recognize duplicates. */
  id: string
}

export type Mailer = {
  /**
   * Resolves when the server has accepted the mail for at least one recipient.
   * @throws MailError
   */
  send(mail: Mail): Promise<void>
}

/** The mail was not accepted. The message contains the server's status code, not its text. */
class MailError extends Error {
  constructor(error: unknown) {
    const { code, command, responseCode } = toParts(error)
    super(`mail not accepted (${[code, command, responseCode].filter(Boolean).join(' ')})`)
    this.name = 'MailError'
  }
}

const deadlineMs = 20_000
const maxResponseBytes = 16_384

/**
 * Sends each mail as text and HTML, over a connection of its own within a deadline. Certificates are
 * verified.
 * @param render the two forms of a message
 */
export function createMailer(
  setup: MailConfig,
  render: (message: Message) => Body,
  { timeoutMs = deadlineMs } = {},
): Mailer {
  const { from } = setup
  const transport = openTransport(setup, timeoutMs)
  return {
    async send({ to, subject, message, id }) {
      const recipients = to.filter(isPlainAddress).map((address) => ({ name: '', address }))
      try {
        const { text, html, images } = render(message)
        await transport.sendMail({
          from,
          to: recipients,
          subject,
          text,
          html,
          attachments: images.map(toRelatedPart),
          messageId: `<${id}>`,
          headers: {
            'auto-submitted': 'auto-generated', // RFC 3834: suppresses automatic replies
            'content-language': message.language, // RFC 3282
          },
          signal: AbortSignal.timeout(timeoutMs),
        })
      } catch (error) {
        throw new MailError(error)
      }
    },
  }
}

/** An image beside the HTML that shows it (RFC 2387), not a file to save. */
function toRelatedPart({ cid, png }: Body['images'][number]) {
  return {
    ...{ cid, content: Buffer.from(png), contentType: 'image/png', filename: 'logo.png' },
    contentDisposition: 'inline' as const,
  }
}

const trialMs = 5_000

/**
 * Connects, and logs in if the settings have a user; sends nothing.
 * @returns why the server cannot be used; null if it can
 */
export async function tryMailServer(setup: MailConfig): Promise<Error | null> {
  const transport = openTransport(setup, trialMs)
  try {
    await transport.verify()
    return null
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    transport.close()
  }
}

function openTransport(setup: MailConfig, timeoutMs: number) {
  const { host, port, secure, requireTls, auth } = setup
  return createTransport({
    host,
    port,
    secure,
    requireTLS: requireTls,
    ...(auth && { auth }),
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketCloseTimeout: 0,
    maxResponseSize: maxResponseBytes,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

type Parts = { code?: unknown; command?: unknown; responseCode?: unknown }

function toParts(error: unknown): Parts {
  return typeof error === 'object' && error !== null ? error : { code: 'unknown' }
}
