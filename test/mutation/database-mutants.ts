import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { applyCut, type Cut, partsOf } from './cut.ts'
import { carryOut, type Form, form } from './hunt.ts'
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
  ...[
    tests.forged,
    tests.foreseen,
    tests.appTokens,
    tests.serviceTokens,
    tests.scope,
    tests.functions,
    tests.signIn,
  ],
  ...[tests.members, tests.locks, tests.entryLocks, tests.portalSessions, tests.worker],
  ...[tests.ownInvitations, tests.invitationLink, tests.noCredential, tests.addresses],
  ...[tests.usage, tests.closedTenant, tests.tenantExport, tests.billingReplays, tests.revoked],
  tests.matrix,
]
const lockTests = [
  ...new Set([tests.entryLocks, tests.locks, tests.closedTenants, ...functionTests]),
]
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

/**
 * A statement that removes it, for every policy and every other part of row-level security, and for the conditions of
 * functions. `vanished`: what the migrated database no longer has.
 */
export async function findDatabaseMutants(
  url: string,
): Promise<{ mutants: Mutant[]; vanished: string[] }> {
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
    const parts = policies.flatMap(weakenings)
    const ofFunctions = await functionMutants(functions)
    const mutants = [
      ...statements.map((sql) => ({
        name: `database ${sql.split('\n')[0]?.slice(0, 110)}`,
        sql,
        tests: rowTests,
      })),
      ...parts,
      ...ofFunctions.mutants,
    ]
    const looked = { tables, policies, views, 'parts of policies': parts }
    const vanished = Object.entries(looked).flatMap(([name, all]) =>
      all.length === 0 ? [name] : [],
    )
    return { mutants, vanished: [...vanished, ...ofFunctions.vanished] }
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
  if (open === definition) throw new Error(`The view ${name} has no condition with the tenant.`)
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

/** Functions (by a pattern, or by names in each of which something is found) and what to look for. */
type FunctionHunt = { name: string; of: RegExp | readonly string[]; forms: readonly Form[] }

/** As if it were true. */
const without = (pattern: RegExp) => form(pattern, 'true')

const everyFunction = /^/
const entriesOnFacts = /^enter_\w+_as$/

/** What a credential, link or sign-in has to be, except in statements that only lock. */
const liveness = [
  /(?<=\b(WHERE|AND) )\w\.expires_at > [\w()]+/g,
  /(?<=\b(WHERE|AND) )\w\.last_seen_at > [\w()]+/g,
  /(?<=\b(WHERE|AND) )\w\.opened_at IS NULL/g,
  /(?<=\b(WHERE|AND) )\w\.opened_at IS NOT NULL/g,
  /(?<=\b(WHERE|AND) )\w\.created_at > coalesce\((?:[^()]|\([^()]*\))*\)/g,
  /(?<=\b(WHERE|AND) )'[\w:-]+' = ANY \(a\.permissions\)/g,
].map((pattern): Form => {
  const { name, cutsIn } = without(pattern)
  return { name, cutsIn: (text) => cutsIn(text).filter((cut) => !isInLock(text, cut)) }
})

function isInLock(definition: string, { from, to }: Cut): boolean {
  const start = definition.lastIndexOf(';', from) + 1
  const statement = definition.slice(start, definition.indexOf(';', to))
  return /\bPERFORM FROM\b[\s\S]*\bFOR (KEY )?SHARE\b/.test(statement)
}

/** What makes an invitation one's own and open, in the statement that answers. */
const openness = [
  /(?<=\b(WHERE|AND) )i\.email = ANY \(addresses\)/g,
  /(?<=\b(WHERE|AND) )i\.accepted_at IS NULL/g,
  /(?<=\b(WHERE|AND) )i\.declined_at IS NULL/g,
].map((pattern): Form => {
  const { name, cutsIn } = without(pattern)
  return {
    name,
    cutsIn: (text) => {
      const from = text.lastIndexOf('UPDATE public.invitations')
      return cutsIn(text).filter((cut) => cut.from > from)
    },
  }
})

/** What makes an IF a refusal, if it returns: who has entered. */
const ofCaller = [/\bscope\b/, /\bcurrent_\w+\(/, /\bholds_identity\b/, /\bis_closed\b/]

/** Each alternative of an IF that ends so, as if it were false. */
function refusals(
  end: 'RAISE' | 'RETURN',
  isRefusal: (condition: string) => boolean,
): Form['cutsIn'] {
  return (definition) =>
    [...definition.matchAll(/\bIF ((?:(?!\bIF\b)[^;])*?)\s*THEN\s+(RAISE|RETURN)\b/g)]
      .filter(({ 1: condition = '', 2: then }) => then === end && isRefusal(condition))
      .flatMap(({ index, 1: condition = '' }) =>
        partsOf(definition, index + 3, index + 3 + condition.length, 'OR', 'false'),
      )
}

const functionHunts: readonly FunctionHunt[] = [
  {
    name: 'lock',
    of: everyFunction,
    forms: [
      form(/\s+FOR KEY SHARE( OF \w+)?(?=;|\s+FOR )/g, ''),
      form(/\s+FOR SHARE( OF \w+)?(?=;|\s+FOR )/g, ''),
    ],
  },
  // What ends a right waits for the writes that hold it.
  { name: 'lock', of: ['remove_team_member'], forms: [form(/\s+FOR NO KEY UPDATE/g, '')] },
  /*
   * Each fact and each bound of time that a write of one packet compares, and the credential itself. Not the tenant
   * and the person of the membership and of the tenant: without one of these more rows are locked, and the credential
   * compares both.
   */
  {
    name: 'fact',
    of: entriesOnFacts,
    forms: [
      without(/(?<=\b(AND|WHERE) )[amstu]\.(?!tenant_id|user_id|id = tenant_id)\w+ = [\w()]+/g),
      without(/(?<=\bAND )[st]\.tenant_id = tenant_id/g),
      without(/(?<=\bAND )[st]\.user_id = user_id/g),
      without(/(?<=\b(AND|WHERE) )[amstu]\.\w+ IS NOT DISTINCT FROM [\w()]+/g),
      without(/(?<=\bAND )[ast]\.expires_at > now\(\)/g),
      without(/(?<=\bAND )s\.last_seen_at > now\(\) - make_interval\([^)]*\)/g),
      without(/(?<=\bAND )CASE WHEN[\s\S]*?IS NOT DISTINCT FROM \w+/g),
    ],
  },
  { name: 'liveness', of: /^(?!enter_\w+_as$)/, forms: liveness },
  { name: 'openness', of: /_invitations?$|^look_up_admission$/, forms: openness },
  {
    name: 'inviter',
    of: ['accept_invitation', 'decline_invitation', 'look_up_admission', 'own_invitations'],
    forms: [without(/(?<=\bAND )m\.role = public\.managing_role\(\)/g)],
  },
  // The secret of a link counts for its own invitation only.
  {
    name: 'link',
    of: ['invited_emails'],
    forms: [
      without(/(?<=\bAND )i\.id = invitation/g),
      without(/(?<=\bAND )i\.link_hash = sha256\(link\)/g),
    ],
  },
  {
    name: 'address',
    of: ['look_up_identity', 'link_by_address', 'prove_address'],
    forms: [
      without(/(?<=\bAND )[uo]\.email_verified/g),
      without(/(?<=\bAND )NOT [uo]\.email_verified/g),
    ],
  },
  {
    name: 'caller',
    of: everyFunction,
    forms: [
      without(/\bpublic\.current_scope_kind\(\) = 'session'(?= AND\b)/g),
      form(/\b(SELECT|PERFORM) public\.operator_user_id\(\);/g, ''),
      form(/\b(SELECT|PERFORM) public\.session_user_id\(\);/g, ''),
      { name: 'IF … RAISE', cutsIn: refusals('RAISE', () => true) },
      ...ofCaller.map((word, n) => ({
        name: `IF ${word} … RETURN`,
        cutsIn: refusals(
          'RETURN',
          (condition) => ofCaller.findIndex((one) => one.test(condition)) === n,
        ),
      })),
    ],
  },
  // Only an open tenant is entered, counted or listed.
  {
    name: 'open tenant',
    of: everyFunction,
    forms: [
      without(/\b\w+\.closed_at IS NULL/g),
      without(/(?<!\bIF )\bNOT (public\.)?is_closed\([^()]*\)/g),
    ],
  },
]

/** Each lock, check of the seal, condition for a live credential and refusal, taken away. */
async function functionMutants(functions: readonly SqlFunction[]) {
  const textOf = await readTests()
  const texts = functions.map(({ name, definition }) => ({ name, text: definition }))
  const { found, vanished } = carryOut(
    functionHunts.map(({ name, of, forms }) => ({
      name: `function, ${name}`,
      isLock: name === 'lock',
      groups:
        of instanceof RegExp
          ? [{ name: String(of), texts: texts.filter((text) => of.test(text.name)) }]
          : of.map((one) => ({ name: one, texts: texts.filter((text) => text.name === one) })),
      forms,
    })),
  )
  const mutants = found.flatMap(({ hunt, finds }) =>
    finds.map(({ name, text, cut }) => ({
      name: `function ${name}:${cut.name}`,
      sql: applyCut(text, cut),
      tests: hunt.isLock ? lockTests : testsOf(name, cut, textOf),
    })),
  )
  return { mutants: mutants.toSorted((a, b) => (a.name < b.name ? -1 : 1)), vanished }
}

function testsOf(name: string, cut: Cut, textOf: ReadonlyMap<string, string>): readonly string[] {
  if (entriesOnFacts.test(name)) return foreseenTests
  if (cut.name.includes('closed')) return closedTests
  // The tests of the function itself, before those in which it has a part.
  const isOwn = (file: string) => textOf.get(file)?.includes(`${name}(`)
  const files = name.includes('portal') ? portalTests : functionTests
  return [...files.filter(isOwn), ...files.filter((file) => !isOwn(file))]
}

async function readTests(): Promise<ReadonlyMap<string, string>> {
  const root = new URL('../../', import.meta.url)
  const texts = portalTests.map(
    async (file) => [file, await readFile(new URL(file, root), 'utf8')] as const,
  )
  return new Map(await Promise.all(texts))
}
