import { roles } from '#src/access/roles.ts'
import { ConfigError } from '#src/config/config.ts'
import type { RoleMap } from '#src/config/providers/providers.ts'
import { isJsonObject, type JsonObject } from '#src/runtime/json.ts'
import { isMet } from './admission.ts'

/** The role to which the claims of a person map in a tenant; null if they map to none. */
export type MappedRole = { tenantId: string; role: string | null }

/**
 * The highest role to which `OIDC_<NAME>_ROLE_MAP` maps the claims.
 * @param claims as for `admit`
 * @returns null without a map, or if the provider says that a mapped claim is elsewhere, as Microsoft does for
 *   many groups: then it is not known which role it is
 */
export function mapRole(claims: JsonObject, map: RoleMap | null): MappedRole | null {
  if (map === null) return null
  const { tenantId, rules } = map
  const elsewhere = isJsonObject(claims._claim_names) ? claims._claim_names : {}
  if (rules.some(({ claim }) => Object.hasOwn(elsewhere, claim))) return null
  const held = rules.filter(({ claim, value }) => isMet({ claim, values: [value] }, claims))
  const role = roles.findLast((one) => held.some((rule) => rule.role === one)) ?? null
  return { tenantId, role }
}

/** @throws ConfigError if the map gives a role that the app does not have */
export function requireRoles(provider: string, map: RoleMap | null): void {
  const unknown = (map?.rules ?? []).filter(({ role }) => !roles.includes(role))
  if (unknown.length === 0) return
  throw new ConfigError(
    unknown.map(
      ({ role }) =>
        `OIDC_${provider.toUpperCase()}_ROLE_MAP: ${role} is no role of the app, which has ${roles.join(', ')}.`,
    ),
  )
}
