/** The parts of a mail with two forms (RFC 2046, 5.1.4), decoded. */
export type MailBodies = { types: string[]; text: string; html: string }

/** @param mail as `startMailServer` has received it */
export function bodiesOf(mail: string): MailBodies {
  const whole = entityOf(mail)
  const boundary = /boundary="([^"]+)"/.exec(whole.headers.get('content-type') ?? '')?.[1]
  if (boundary === undefined) throw new Error('The mail has one part.')
  const parts = whole.body.split(`--${boundary}`).slice(1, -1).map(entityOf)
  const textOf = (type: string) => {
    const part = parts.find(({ headers }) => headers.get('content-type')?.startsWith(type))
    if (part === undefined) throw new Error(`The mail has no ${type}.`)
    return decode(part.body, part.headers.get('content-transfer-encoding'))
  }
  return {
    types: parts.map(({ headers }) => headers.get('content-type')?.split(';')[0] ?? ''),
    text: textOf('text/plain'),
    html: textOf('text/html'),
  }
}

function entityOf(entity: string): { headers: Map<string, string>; body: string } {
  const start = entity.replace(/^\r\n/, '')
  const end = start.indexOf('\r\n\r\n')
  const lines = start
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { headers: new Map(headers), body: start.slice(end + 4).replace(/\r\n$/, '') }
}

/** RFC 2045, 6. `startMailServer` has removed the soft line breaks. */
function decode(body: string, encoding = '7bit'): string {
  const bytes =
    encoding === 'base64'
      ? Buffer.from(body, 'base64')
      : encoding === 'quoted-printable'
        ? Buffer.from(
            body.replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number(`0x${hex}`))),
            'latin1',
          )
        : Buffer.from(body)
  return bytes.toString().replaceAll('\r\n', '\n')
}
