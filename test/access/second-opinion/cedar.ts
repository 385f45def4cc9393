import { readFile } from 'node:fs/promises'
import * as cedar from '@cedar-policy/cedar-wasm/nodejs'

/*
 * The permissions as Cedar understands them: policy.cedar, evaluated by Cedar's own engine.
 */

type Entity = { type: string; id: string }

/** Who asks, and with which credential. */
export type Asker = {
  person: string
  tenant: string | null
  role: string | null
  department: string | null
  operator: boolean
  session: boolean
  recent: boolean
  /** The permissions of a limited token; null without a limit. */
  limit: readonly string[] | null
  /** The permissions of a service, which is no person; null for people. */
  service?: readonly string[] | null
  /** The permissions of the app; null for people and services. */
  app?: readonly string[] | null
  /** Somebody in the portal. */
  portal?: boolean
  /** They ask on a route that names the tenant. */
  named?: boolean
}

/** What is asked for. */
export type Thing = {
  kind: 'Object' | 'Team' | 'Folder'
  id: string
  tenant: string | null
  owner: string | null
  department: string | null
  /** Ids of what it is in, from near to far: folders, then the team. */
  path: readonly Entity[]
}

const name = 'policy'
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8')

/** Parses and validates the policies. @throws if Cedar finds a fault in them */
export async function openCedar() {
  const [policies, schema] = await Promise.all([read('policy.cedar'), read('policy.cedarschema')])
  const validated = cedar.validate({
    schema,
    policies: { staticPolicies: policies },
    validationSettings: { mode: 'strict' },
  })
  if (validated.type === 'failure' || validated.validationErrors.length > 0) {
    throw new Error(`the policies are not valid: ${JSON.stringify(validated)}`)
  }
  cedar.preparsePolicySet(name, { staticPolicies: policies })
  cedar.preparseSchema(name, schema)
  const { actions, principals } = actionsOf(schema)

  return {
    /** Every `resource:action` that the schema knows. */
    actions,
    /**
     * @param members of each team, by its id
     * @returns whether the person may do it; what the schema does not know, nobody may
     */
    allows(
      asker: Asker,
      action: string,
      thing: Thing,
      hour: number,
      members: ReadonlyMap<string, readonly string[]> = new Map(),
    ): boolean {
      if (!actions.has(action)) return false
      // Cedar itself refuses a request that the schema does not have for this kind of principal.
      const type = asker.portal
        ? 'Portal'
        : asker.app
          ? 'App'
          : asker.service
            ? 'Service'
            : 'Person'
      if (!principals.get(action)?.includes(type)) return false
      const { session, recent, limit, named = false } = asker
      const answer = cedar.statefulIsAuthorized({
        principal: { type, id: asker.person },
        action: { type: 'Action', id: action },
        resource: { type: thing.kind, id: thing.id },
        context: { session, recent, hour, named, ...(limit !== null && { limit: [...limit] }) },
        preparsedSchemaName: name,
        validateRequest: true,
        preparsedPolicySetId: name,
        entities: [principalOf(asker), ...entitiesOf(thing, members, asker.person)],
      })
      if (answer.type === 'failure') throw new Error(JSON.stringify(answer.errors))
      const { decision, diagnostics } = answer.response
      if (diagnostics.errors.length > 0) throw new Error(JSON.stringify(diagnostics.errors))
      return decision === 'allow'
    },
  }
}

/** Every `resource:action`, and the kinds of principals that the schema has it for. */
function actionsOf(schema: string) {
  const parsed = cedar.schemaToJson(schema)
  if (parsed.type === 'failure') throw new Error(JSON.stringify(parsed.errors))
  const entries = Object.values(parsed.json).flatMap(({ actions }) => Object.entries(actions))
  const rules = entries.filter(([action]) => action.includes(':'))
  const principals = new Map(
    rules.map(([action, { appliesTo }]) => [action, appliesTo?.principalTypes ?? []]),
  )
  return { actions: new Set(principals.keys()), principals }
}

function principalOf({ service, app, portal, ...asker }: Asker): cedar.EntityJson {
  const { person, tenant, role, department, operator } = asker
  if (portal && tenant !== null) {
    const attrs = { tenant: refer('Tenant', tenant) }
    return { uid: { type: 'Portal', id: person }, attrs, parents: [] }
  }
  if (app)
    return { uid: { type: 'App', id: person }, attrs: { permissions: [...app] }, parents: [] }
  if (service && tenant !== null) {
    return {
      uid: { type: 'Service', id: person },
      attrs: { tenant: refer('Tenant', tenant), permissions: [...service] },
      parents: [],
    }
  }
  return {
    uid: { type: 'Person', id: person },
    attrs: {
      operator,
      ...(tenant !== null && { tenant: refer('Tenant', tenant) }),
      ...(role !== null && { role }),
      ...(department !== null && { department }),
    },
    parents: [],
  }
}

/** The object and everything that it is in, up to the members of the team. */
function entitiesOf(
  { kind, id, tenant, owner, department, path }: Thing,
  members: ReadonlyMap<string, readonly string[]>,
  asker: string,
): cedar.EntityJson[] {
  const inTenant = tenant === null ? {} : { tenant: refer('Tenant', tenant) }
  const chain = kind === 'Object' ? path : [{ type: kind, id }, ...path]
  const places = chain.map((place, index) => {
    const next = chain[index + 1]
    const parents =
      place.type === 'Team'
        ? (members.get(place.id) ?? []).map((person) => ({ type: 'Person', id: person }))
        : next === undefined
          ? []
          : [next]
    return { uid: place, attrs: inTenant, parents }
  })
  const people = [...new Set(chain.flatMap(({ id: team }) => members.get(team) ?? []))]
    .filter((person) => person !== asker)
    .map((person) => ({
      uid: { type: 'Person', id: person },
      attrs: { operator: false },
      parents: [],
    }))
  if (kind !== 'Object') return [...places, ...people]
  const object = {
    uid: { type: 'Object', id },
    attrs: {
      ...inTenant,
      ...(owner !== null && { owner: refer('Person', owner) }),
      ...(department !== null && { department }),
    },
    parents: path.slice(0, 1),
  }
  return [object, ...places, ...people]
}

function refer(type: string, id: string): cedar.CedarValueJson {
  return { __entity: { type, id } }
}
