import { once } from 'node:events'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Test } from 'tap'

export type ReceivedMail = {
  from: string
  to: string[]
  /** The message: headers, an empty line, the body with soft line breaks removed. */
  text: string
  /** The same as it was sent. */
  raw: string
  /** Whether the connection was encrypted, and the authenticated user. */
  secure: boolean
  user: string | undefined
}

export type MailServer = {
  port: number
  /** `smtp://127.0.0.1:PORT`. */
  url: string
  mails: readonly ReceivedMail[]
  /** Resolves to the oldest mail that `next` has not returned yet; waits until one arrives. */
  next(): Promise<ReceivedMail>
}

/** A real mail server on loopback, without STARTTLS and authentication by default. */
export async function startMailServer(
  t: Test,
  options: SMTPServerOptions = { disabledCommands: ['STARTTLS', 'AUTH'] },
): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const waiting: ((mail: ReceivedMail) => void)[] = []
  let handedOut = 0
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    closeTimeout: 100,
    ...options,
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const raw = Buffer.concat(chunks).toString()
        const bodyAt = raw.indexOf('\r\n\r\n')
        const mail = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: raw.slice(0, bodyAt) + raw.slice(bodyAt).replaceAll('=\r\n', ''),
          raw,
          secure: session.secure,
          user: session.user,
        }
        mails.push(mail)
        const waiter = waiting.shift()
        if (waiter !== undefined) {
          handedOut += 1
          waiter(mail)
        }
        callback()
      })
    },
  })
  server.on('error', () => {}) // a client disconnected
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const address = server.server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    port: address.port,
    url: `smtp://127.0.0.1:${address.port}`,
    mails,
    async next() {
      const mail = mails[handedOut]
      if (mail === undefined) return new Promise((resolve) => waiting.push(resolve))
      handedOut += 1
      return mail
    },
  }
}
