import pg from 'pg'
import { applyCut, type Cut, cutsOf, partsOf } from './cut.ts'
import { type Mutant, tests } from './mutant.ts'

const rowTests = [
  ...[tests.rawRows, tests.chain, tests.views, tests.ownerPolicies, tests.serviceTokens],
  ...[tests.portalSessions, tests.appTokens, tests.members, tests.functions, tests.usage],
  tests.verify,
  ...[
    tests.rowLevelSecurity,
    tests.closedTenants,
    tests.closedTenant,
    tests.erasure,
    tests.tenantExport,
  ],
  tests.matrix,
]
const functionTests = [
  ...[tests.forged, tests.foreseen, tests.appTokens, tests.scope, tests.functions, tests.signIn],
  ...[tests.members, tests.locks, tests.entryLocks, tests.portalSessions, tests.worker],
  ...[tests.ownInvitations, tests.invitationLink, tests.noCredential, tests.addresses],
  ...[tests.usage, tests.closedTenant, tests.tenantExport, tests.billingReplays, tests.revoked],
  tests.matrix,
]
const lockTests = [...new Set([tests.entryLocks, tests.locks, ...functionTests])]
const portalTests = [
  ...new Set([tests.portalSessions, tests.openPortal, tests.portalLinks, ...functionTests]),
]
const foreseenTests = [...new Set([tests.foreseen, ...functionTests])]
const closedTests = [
  ...new Set([tests.closedTenants, tests.closedTenant, tests.locks, ...functionTests]),
]

type SqlFunction = { name: string; definition: string }

type Policy = {
  table: string
  name: string
  qual: string | null
  check: string | null
  hasCheck: boolean
}

/** A statement that removes it, for every policy and every other part of row-level security. */
export async function findDatabaseMutants(url: string): Promise<Mutant[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string; forced: boolean }>(
      `SELECT oid::regclass::text AS name, relforcerowsecurity AS forced FROM pg_class
       WHERE relrowsecurity AND relnamespace = 'public'::regnamespace ORDER BY relname`,
    )
    const { rows: policies } = await client.query<Policy>(
      `SELECT tablename AS table, quote_ident(policyname) AS name, qual,
         coalesce(with_check, CASE WHEN cmd IN ('ALL', 'UPDATE') THEN qual END) AS check,
         with_check IS NOT NULL AS "hasCheck"
       FROM pg_policies WHERE schemaname = 'public' ORDER BY tablename, policyname`,
    )
    const { rows: views } = await client.query<{ name: string; definition: string }>(
      `SELECT oid::regclass::text AS name, pg_get_viewdef(oid) AS definition FROM pg_class
       WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace ORDER BY relname`,
    )
    const statements = [
      ...tables.flatMap(({ name, forced }) => [
        `ALTER TABLE ${name} DISABLE ROW LEVEL SECURITY`,
        ...(forced ? [`ALTER TABLE ${name} NO FORCE ROW LEVEL SECURITY`] : []),
      ]),
      ...policies.flatMap(removals),
      ...views.map(({ name, definition }) => openView(name, definition)),
    ]
    const { rows: functions } = await client.query<SqlFunction>(
      `SELECT proname AS name, pg_get_functiondef(oid) AS definition FROM pg_proc
       WHERE pronamespace = 'public'::regnamespace AND prolang <> 12 ORDER BY proname`,
    )
    return [
      ...statements.map((sql) => ({
        name: `database ${sql.split('\n')[0]?.slice(0, 110)}`,
        sql,
        tests: rowTests,
      })),
      ...policies.flatMap(weakenings),
      ...functions.flatMap(functionMutants),
    ]
  } finally {
    await client.end()
  }
}

function removals({ table, name, qual, check }: Policy): string[] {
  const alter = `ALTER POLICY ${name} ON ${table}`
  return [
    `DROP POLICY ${name} ON ${table}`,
    ...(qual === null || qual === 'true' ? [] : [`${alter} USING (true)`]),
    ...(check === null || check === 'true' ? [] : [`${alter} WITH CHECK (true)`]),
  ]
}

function openView(name: string, definition: string): string {
  const open = definition.replace(/\sWHERE [\s\S]*current_tenant_id\(\)[\s\S]*$/, '')
  return `CREATE OR REPLACE VIEW ${name} WITH (security_invoker = true) AS ${open}`.replaceAll(
    /\s+/g,
    ' ',
  )
}

/**
 * Each part of a policy that joins several with AND, left out. It is not replaced by true, which the verification at
 * start refuses whatever the part was.
 */
function weakenings({ table, name, qual, check, hasCheck }: Policy): Mutant[] {
  const clauses = [
    ...(qual === null ? [] : [{ clause: 'USING', condition: qual }]),
    ...(check !== null && hasCheck ? [{ clause: 'WITH CHECK', condition: check }] : []),
  ]
  return clauses.flatMap(({ clause, condition }) => {
    const parts = partsOf(condition, 1, condition.length - 1, 'AND', '').map((cut) =>
      condition.slice(cut.from, cut.to),
    )
    if (parts.length === 1) return []
    return parts.map((part) => ({
      name: `policy ${name} on ${table}, ${clause} without ${part.replaceAll(/\s+/g, ' ')}`,
      sql: `ALTER POLICY ${name} ON ${table} ${clause} (${parts.filter((other) => other !== part).join(' AND ')})`,
      tests: rowTests,
    }))
  })
}

/** Each lock, check of the seal, condition for a live credential and refusal, taken away. */
function functionMutants({ name, definition }: SqlFunction): Mutant[] {
  const cuts = [
    ...(/^enter_\w+_as$/.test(name) ? comparisonsOf(definition) : livenessOf(definition)),
    ...(/_invitations?$|^look_up_admission$/.test(name) ? opennessOf(definition) : []),
    ...(name === 'invited_emails' ? cutsOf(definition, linkConditions, 'true') : []),
    ...(addressFunctions.includes(name) ? verificationsOf(definition) : []),
    ...cutsOf(definition, scopeConditions, 'true'),
    ...cutsOf(definition, /\b(SELECT|PERFORM) public\.(operator|session)_user_id\(\);/g, ''),
    ...refusalsOf(definition),
  ]
  const locks = cutsOf(definition, /\s+FOR (KEY )?SHARE( OF \w+)?(?=;|\s+FOR )/g, '')
  const mutantsOf = (all: readonly Cut[], files: readonly string[]) =>
    all.map((cut) => ({
      name: `function ${name}:${cut.name}`,
      sql: applyCut(definition, cut),
      tests: files,
    }))
  const { closed = [], other = [] } = Object.groupBy(
    [...cuts, ...cutsOf(definition, openTenant, 'true')],
    (cut) => (cut.name.includes('closed') ? 'closed' : 'other'),
  )
  const first = name.includes('portal') ? portalTests : functionTests
  return [
    ...mutantsOf(locks, lockTests),
    ...mutantsOf(closed, name.endsWith('_as') ? foreseenTests : closedTests),
    ...mutantsOf(other, name.endsWith('_as') ? foreseenTests : first),
  ]
}

/** Only an open tenant is entered, counted or listed. */
const openTenant = /\b\w+\.closed_at IS NULL|(?<!\bIF )\bNOT (public\.)?is_closed\([^()]*\)/g

/** The kind of the scope, where a statement asks for it. */
const scopeConditions = /\bpublic\.current_scope_kind\(\) = 'session'(?= AND\b)/g

/** What a credential, link or sign-in has to be, except in statements that only lock. */
function livenessOf(definition: string): Cut[] {
  const conditions =
    /(?<=\b(WHERE|AND) )(\w\.((expires|last_seen)_at > [\w()]+|opened_at IS (NOT )?NULL|created_at > coalesce\([^)]*\))|'[\w:-]+' = ANY \(a\.permissions\))/g
  return cutsOf(definition, conditions, 'true').filter(({ from, to }) => {
    const statement = definition.slice(
      definition.lastIndexOf(';', from),
      definition.indexOf(';', to),
    )
    return !/\bPERFORM FROM\b[\s\S]*\bFOR (KEY )?SHARE\b/.test(statement)
  })
}

/**
 * Each fact and each bound of time that a write of one packet compares, and the credential itself. Not the
 * tenant and the person: they are compared at the membership or tenant and again at the credential, so no
 * test can miss one of the two.
 */
function comparisonsOf(definition: string): Cut[] {
  const facts =
    /(?<=\b(AND|WHERE) )[amstu]\.(?!tenant_id|user_id|id = tenant_id)\w+ (=|IS NOT DISTINCT FROM) [\w()]+/g
  const bounds =
    /(?<=\bAND )[ast]\.(expires_at|last_seen_at) > now\(\)( - make_interval\([^)]*\))?/g
  const computed = /(?<=\bAND )CASE WHEN[\s\S]*?IS NOT DISTINCT FROM \w+/g
  return [facts, bounds, computed].flatMap((form) => cutsOf(definition, form, 'true'))
}

/** The secret of a link counts for its own invitation only. */
const linkConditions = /(?<=\bAND )i\.(id = invitation|link_hash = sha256\(link\))/g

/** What makes an invitation one's own and open, in the statement that answers; and its inviter's right. */
function opennessOf(definition: string): Cut[] {
  const conditions = /(?<=\b(WHERE|AND) )i\.(email = ANY \(addresses\)|\w+_at IS NULL)/g
  const from = definition.lastIndexOf('UPDATE public.invitations')
  return [
    ...cutsOf(definition, conditions, 'true').filter((cut) => cut.from > from),
    ...cutsOf(definition, /(?<=\bAND )m\.role = 'admin'/g, 'true'),
  ]
}

const addressFunctions = ['look_up_identity', 'link_by_address', 'prove_address']

/** Each condition on whether an address is verified. */
function verificationsOf(definition: string): Cut[] {
  return cutsOf(definition, /(?<=\bAND )(NOT )?[uo]\.email_verified/g, 'true')
}

/**
 * Each alternative of an IF whose first statement raises, or returns because of who has entered, as if it were
 * false.
 */
function refusalsOf(definition: string): Cut[] {
  return [...definition.matchAll(/\bIF ((?:(?!\bIF\b)[^;])*?)\s*THEN\s+(RAISE|RETURN)\b/g)]
    .filter(({ 1: condition = '', 2: then }) => then === 'RAISE' || ofCaller.test(condition))
    .flatMap(({ index, 1: condition = '' }) =>
      partsOf(definition, index + 3, index + 3 + condition.length, 'OR', 'false'),
    )
}

const ofCaller = /\bscope\b|\bcurrent_\w+\(|holds_identity|is_closed/
