/** A mail with two forms (RFC 2046, 5.1.4), decoded. */
export type MailBodies = {
  headers: ReadonlyMap<string, string>
  /** The types of its parts, each before those inside it. */
  types: string[]
  text: string
  html: string
  /** The images that are part of it, as data URLs by their Content-ID. */
  images: Readonly<Record<string, string>>
}

type Entity = { headers: Map<string, string>; body: string }

/** @param mail as `startMailServer` has received it */
export function bodiesOf(mail: string): MailBodies {
  const whole = entityOf(mail)
  const parts = partsOf(whole)
  if (parts.length === 0) throw new Error('The mail has one part.')
  const textOf = (type: string) => {
    const part = parts.find((one) => typeOf(one) === type)
    if (part === undefined) throw new Error(`The mail has no ${type}.`)
    return decode(part).toString().replaceAll('\r\n', '\n')
  }
  const images = parts.filter((part) => typeOf(part).startsWith('image/'))
  return {
    headers: whole.headers,
    types: parts.map(typeOf),
    text: textOf('text/plain'),
    html: textOf('text/html'),
    images: Object.fromEntries(
      images.map((image) => [
        image.headers.get('content-id')?.replace(/^<(.*)>$/, '$1') ?? '',
        `data:${typeOf(image)};base64,${decode(image).toString('base64')}`,
      ]),
    ),
  }
}

function partsOf({ headers, body }: Entity): Entity[] {
  const boundary = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '')?.[1]
  if (boundary === undefined) return []
  const parts = body.split(`--${boundary}`).slice(1, -1).map(entityOf)
  return parts.flatMap((part) => [part, ...partsOf(part)])
}

function typeOf({ headers }: Entity): string {
  return headers.get('content-type')?.split(';')[0] ?? ''
}

function entityOf(entity: string): Entity {
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
function decode({ headers, body }: Entity): Buffer {
  const encoding = headers.get('content-transfer-encoding') ?? '7bit'
  if (encoding === 'base64') return Buffer.from(body, 'base64')
  if (encoding !== 'quoted-printable') return Buffer.from(body)
  const bytes = body.replaceAll(/=([0-9A-F]{2})/g, (_, hex) =>
    String.fromCharCode(Number(`0x${hex}`)),
  )
  return Buffer.from(bytes, 'latin1')
}
