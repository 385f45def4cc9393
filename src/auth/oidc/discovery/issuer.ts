import type { JsonObject } from '#src/runtime/json.ts'

/*
 * A provider with many tenants, such as Microsoft, publishes `{tenantid}` in its issuer. The issuer
 * of a token is this template with the tenant of the person, which the token names in `tid`.
 */

export type Issuers = { issuer: string; issuerTemplate: string | null }

const placeholder = '{tenantid}'
const tenantPattern = /^[A-Za-z0-9._-]{1,64}$/

/** The issuer of one tenant. */
export function fillTemplate(template: string, tenant: string): string {
  return template.replace(placeholder, tenant)
}

/** True if the metadata's issuer is the configured one, the template or a tenant of the template. */
export function isPublishedIssuer(
  { issuer, issuerTemplate }: Issuers,
  published: unknown,
): boolean {
  if (published === issuer) return true
  if (issuerTemplate === null || typeof published !== 'string') return false
  return published === issuerTemplate || isOfTemplate(issuerTemplate, published)
}

/** True if `iss` is the issuer, or that of the token's own tenant. */
export function isIssuerOf({ issuer, issuerTemplate }: Issuers, claims: JsonObject): boolean {
  if (issuer !== issuerTemplate) return claims.iss === issuer
  const { tid } = claims
  if (typeof tid !== 'string' || !tenantPattern.test(tid)) return false
  return claims.iss === fillTemplate(issuerTemplate, tid)
}

function isOfTemplate(template: string, issuer: string): boolean {
  const [start = '', end = ''] = template.split(placeholder)
  if (!issuer.startsWith(start) || !issuer.endsWith(end)) return false
  return tenantPattern.test(issuer.slice(start.length, issuer.length - end.length))
}

/** True if a key may sign for this issuer; some providers publish an issuer with each key. */
export function maySign(keyIssuer: unknown, claims: JsonObject): boolean {
  if (typeof keyIssuer !== 'string' || keyIssuer === '') return true
  const { iss, tid } = claims
  return keyIssuer === iss || (typeof tid === 'string' && fillTemplate(keyIssuer, tid) === iss)
}
