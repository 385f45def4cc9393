type Headers = Readonly<{
  'content-length'?: string | undefined
  'content-encoding'?: string | undefined
  'transfer-encoding'?: string | undefined
}>

/** False for a request that certainly has no body, whatever it says about its type (RFC 9112, 6.3). */
export function hasBody(headers: Headers): boolean {
  const { 'transfer-encoding': transfer, 'content-length': length } = headers
  return transfer !== undefined || Number(length ?? 0) > 0
}

const plainCodings = ['', 'identity', 'chunked']

/** Whether the bytes of the body are not those that its type describes, such as those of gzip. */
export function isEncodedBody(headers: Headers): boolean {
  const { 'content-encoding': content = '', 'transfer-encoding': transfer = '' } = headers
  if (content === '' && transfer === '') return false
  const codings = `${content},${transfer}`.split(',').map((coding) => coding.trim().toLowerCase())
  return hasBody(headers) && codings.some((coding) => !plainCodings.includes(coding))
}
