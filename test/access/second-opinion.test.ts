import t from 'tap'
import {
  type Action,
  appPermissions,
  decide,
  policy,
  type Resource,
  type Subject,
  servicePermissions,
} from '#src/access/policy.ts'
import { tokenPermissions } from '#src/access/roles.ts'
import { descriptions } from '#test/resources/index.ts'
import { type Asker, openCedar, type Thing } from './second-opinion/cedar.ts'

/*
 * Two implementations of the permissions are asked the same questions: src/access/policy.ts, and
 * Cedar with policy.cedar. Every caller, every credential, every action on an object in the caller's
 * reach; what is out of reach is compared with the database in second-opinion-worlds.test.ts.
 */

const tenantId = '00000000-0000-4000-8000-00000000000a'
// Cedar has the rules of the specification; those of other declared resources are in the access matrix alone.
const others = descriptions.filter(({ specified }) => !specified).map(({ name }) => name)
const specified = policy.filter(({ resource }) => !others.includes(resource))
const resources = [...new Set(specified.map(({ resource }) => resource))]
const actions: readonly Action[] = ['read', 'create', 'update', 'delete', 'replay', 'publish']
const roles = ['viewer', 'editor', 'admin', 'owner', null]
const departments = [null, 'sales', 'support'] as const
const hours = [8, 9, 16, 17]

type Credential = Pick<Asker, 'session' | 'recent' | 'limit' | 'named'>
const credentials: readonly Credential[] = [
  { session: true, recent: true, limit: null },
  { session: true, recent: true, limit: null, named: true },
  { session: true, recent: false, limit: null },
  { session: false, recent: false, limit: null },
  { session: false, recent: false, limit: [] },
  ...tokenPermissions.map((one) => ({ session: false, recent: false, limit: [one] })),
  { session: false, recent: false, limit: [...tokenPermissions] },
]

/** What programs are permitted: all, all but one, one, none, and what nobody can give them. */
const grantsOf = (all: readonly string[]) => [
  [],
  all,
  ...all.flatMap((one) => [[one], all.filter((two) => two !== one)]),
  specified.map(({ resource, action }) => `${resource}:${action}`),
]
const grants = grantsOf(servicePermissions)
const appGrants = grantsOf(appPermissions)

t.test('Cedar accepts the policies and knows exactly the rules of the table', async (t) => {
  const cedar = await openCedar()
  const ruled = specified.map(({ resource, action }) => `${resource}:${action}`)
  t.strictSame([...cedar.actions].toSorted(), ruled.toSorted())
})

t.test('Cedar and the policy agree about every caller, credential and action', async (t) => {
  const cedar = await openCedar()
  const differences: string[] = []
  const counts = { allowed: 0, denied: 0 }
  for (const question of questions()) {
    const { asker, resource, action, department, hour } = question
    const ours = decide({
      caller: subjectOf(asker),
      resource,
      action,
      namesTenant: asker.named,
      object: { department },
      now: new Date(Date.UTC(2026, 10, 23, hour, 30)),
    })
    const allowed = ours.effect === 'allow'
    const thing = objectInReach(asker, resource, department)
    const members = new Map([['team', [asker.person]]])
    const theirs = cedar.allows(asker, `${resource}:${action}`, thing, hour, members)
    counts[theirs ? 'allowed' : 'denied'] += 1
    if (theirs !== allowed) differences.push(`${JSON.stringify(question)}: ours ${ours.reason}`)
  }
  t.strictSame(differences, [])
  t.ok(counts.allowed > 1_000 && counts.denied > 1_000, JSON.stringify(counts))
  t.comment(`compared: ${JSON.stringify(counts)}`)
})

type Question = {
  asker: Asker
  resource: Resource
  action: Action
  department: string | null
  hour: number
}

function* questions(): Generator<Question> {
  for (const resource of resources) {
    for (const action of actions) {
      const conditional = resource === 'post' && action === 'update'
      for (const asker of askers(conditional ? departments : [null])) {
        for (const department of conditional ? departments : [null]) {
          for (const hour of conditional ? hours : [12]) {
            yield { asker, resource, action, department, hour }
          }
        }
      }
    }
  }
}

function* askers(inDepartments: readonly (string | null)[]): Generator<Asker> {
  for (const tenant of [tenantId, null]) {
    yield* programs(tenant)
    for (const role of roles) {
      for (const operator of [true, false]) {
        for (const credential of credentials) {
          for (const department of inDepartments) {
            yield { person: '1', tenant, role, department, operator, ...credential }
          }
        }
      }
    }
  }
}

/** Callers that are no people. */
function* programs(tenant: string | null): Generator<Asker> {
  const facts = { person: '1', tenant, role: null, department: null, operator: false }
  const without = { session: false, recent: false, limit: null }
  for (const named of [false, true]) {
    for (const permissions of appGrants) yield { ...facts, ...without, named, app: permissions }
    if (tenant === null) continue
    for (const permissions of grants) yield { ...facts, ...without, named, service: permissions }
    yield { ...facts, ...without, named, portal: true }
  }
}

function subjectOf({ service = null, app = null, portal = false, ...asker }: Asker): Subject {
  const { session, recent, limit, tenant, role, department, operator } = asker
  return {
    userId: null,
    role,
    tenantId: tenant,
    department,
    plan: null,
    operator,
    tokenPermissions: app ?? service ?? limit,
    isApp: app !== null,
    ...(portal && { portalSessionId: 'a portal session' }),
    serviceId: portal ? 'an app token' : (app ?? service) && asker.person,
    sessionId: session ? 'a session' : null,
    authenticatedSecondsAgo: session ? (recent ? 300 : 301) : null,
  }
}

/** An object that the scope of the rule lets the caller see: it tests everything but the scope. */
function objectInReach(asker: Asker, resource: Resource, department: string | null): Thing {
  const scope = policy.find((rule) => rule.resource === resource)?.scope
  const isPersonal = scope === 'owner' || scope === 'self'
  const isOfTenant = scope === 'tenant' || scope === 'chain'
  const team = { type: 'Team', id: 'team' }
  return {
    kind: 'Object',
    id: 'object',
    tenant: isOfTenant ? tenantId : null,
    owner: isPersonal ? asker.person : null,
    department,
    path: scope === 'chain' ? [{ type: 'Folder', id: 'folder' }, team] : [],
  }
}
