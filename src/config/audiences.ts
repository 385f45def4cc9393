import { readAudienceOrigins } from './allowed-origins.ts'
import { list } from './parse.ts'

/** An app behind a proxy. */
export type Audience = {
  /** `aud` of the tokens that it accepts. */
  readonly name: string
  /** Where it is served; empty if that is not restricted. */
  readonly origins: readonly string[]
}

/** Reads `shop https://example.com, reports https://example.com:8443`; origins are optional. */
export function readAudiences(
  value: string,
  baseUrl: string,
  faults: string[],
): readonly [Audience, ...Audience[]] {
  const [first = { name: baseUrl, origins: [] }, ...others] = list(value).map((text) => {
    const [name = '', ...origins] = text.split(/ +/)
    return { name, origins: readAudienceOrigins(origins, baseUrl, faults) }
  })
  if (new Set([first, ...others].map(({ name }) => name)).size <= others.length) {
    faults.push('IDENTITY_AUDIENCE: names an audience twice.')
  }
  return [first, ...others]
}
