import { loopbackHosts } from '#src/config/parse.ts'

/** How mail is sent, and from whom. */
export type MailSetup = {
  host: string
  port: number
  /** TLS from the first byte (smtps); otherwise STARTTLS where it is offered. */
  secure: boolean
  /** Without TLS nothing is sent: a password never goes in clear over a network. */
  requireTls: boolean
  auth: { user: string; pass: string } | null
  from: { name: string; address: string }
}

// RFC 6409 and 8314: submission, and submission over TLS.
const ports = { 'smtp:': 587, 'smtps:': 465 }
const sender = /^(?:([^<>"\p{Cc}]{1,100}?) ?<([^<>]+)>|([^<> ]+))$/u
const plainAddress = /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}]{1,255}$/u

/** `null` when no mail server is configured: then alerts are notifications and log lines. */
export function readMail(
  smtpUrl: string | undefined,
  alertFrom: string | undefined,
  faults: string[],
): MailSetup | null {
  if (smtpUrl === undefined) {
    if (alertFrom !== undefined) faults.push('ALERT_FROM: is of no use without SMTP_URL.')
    return null
  }
  const url = URL.parse(smtpUrl)
  const { protocol } = url ?? {}
  const auth = url && readAuth(url)
  const isPlain = url !== null && url.search === '' && url.hash === '' && /^\/?$/.test(url.pathname)
  if (
    !isPlain ||
    auth === 'malformed' ||
    url.hostname === '' ||
    (protocol !== 'smtp:' && protocol !== 'smtps:')
  ) {
    faults.push('SMTP_URL: must be smtp://user:password@host:port or smtps://…, and nothing more.')
    return null
  }
  const from = readSender(alertFrom ?? '')
  if (from === null) faults.push('ALERT_FROM: must be an address, or Name <address>.')
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port:
      url.port === '' ? ports[url.protocol === 'smtps:' ? 'smtps:' : 'smtp:'] : Number(url.port),
    secure: url.protocol === 'smtps:',
    requireTls: auth !== null && !loopbackHosts.includes(url.hostname),
    auth,
    from: from ?? { name: '', address: '' },
  }
}

/** An address that means one mailbox, whoever reads it. */
export function isPlainAddress(text: string): boolean {
  return plainAddress.test(text)
}

function readSender(text: string): MailSetup['from'] | null {
  const [, name = '', named, bare] = sender.exec(text) ?? []
  const address = named ?? bare ?? ''
  return isPlainAddress(address) ? { name, address } : null
}

function readAuth({ username, password }: URL): MailSetup['auth'] | 'malformed' {
  if (username === '') return null
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  } catch {
    return 'malformed'
  }
}
