import type { MailConfig } from '#src/config/parse.ts'
import { tryRedis } from '#src/http/rate-limit-store.ts'
import { tryMailServer } from '#src/mail/mailer.ts'
import { certificateRemedy, isUntrustedCertificate } from '#src/runtime/certificate-errors.ts'

/** Connects to Redis, logs in and waits for an answer. @returns what is wrong, with the remedy */
export async function findRedisFaults(url: string): Promise<string[]> {
  const error = await tryRedis(url)
  if (error === null) return []
  const { hostname, port } = new URL(url)
  const redis = `Redis at ${hostname}:${port || 6379}`
  if (isUntrustedCertificate(error)) return [untrusted(redis, error)]
  if (/^(WRONGPASS|NOAUTH)/.test(error.message)) {
    return [`${redis} refuses the login: ${error.message} Check the password in REDIS_URL.`]
  }
  const meanwhile = 'Meanwhile each process counts requests by itself.'
  return [
    `${redis} cannot be used: ${reasonOf(error)}. Check REDIS_URL and that Redis is running. ${meanwhile}`,
  ]
}

/** Connects to the mail server and logs in; sends nothing. @returns what is wrong, with the remedy */
export async function findMailFaults(setup: MailConfig): Promise<string[]> {
  const error = await tryMailServer(setup)
  if (error === null) return []
  const server = `The mail server ${setup.host}:${setup.port}`
  if (isUntrustedCertificate(error)) return [untrusted(server, error)]
  if ('code' in error && error.code === 'EAUTH') {
    return [`${server} refuses the login. Check user and password in SMTP_URL.`]
  }
  return [
    `${server} cannot be used: ${reasonOf(error)}. Check SMTP_URL and that the server is running.`,
  ]
}

function untrusted(server: string, error: Error): string {
  return `${server} has a certificate that is not trusted: ${reasonOf(error)}. ${certificateRemedy}`
}

/** An error of several addresses (AggregateError) has a code and no message. */
function reasonOf(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : error.name)
}
