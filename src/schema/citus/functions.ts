/** The number of an advisory lock, like those of src/db/advisory-lock.ts. */
const peopleLock = 7_165_230_421
const peopleTables = ['tenants', 'users', 'memberships']

/**
 * In functions that return rows and have parameters, Citus plans only what is in PL/pgSQL. There a parameter
 * that is the tenant tells it which node to ask.
 */
const rowFunctions = [
  'counted_usage',
  'list_usage',
  'count_near_quota',
  'ledger_differences',
  'count_ledger',
  'find_post',
  'find_invoice',
  'find_document',
]

/**
 * Statements that a trigger follows on one PostgreSQL, with what the trigger does as a statement of its
 * own: Citus runs no triggers of reference tables, and one on a shard cannot write on the coordinator.
 */
const withoutTriggers: readonly Rule[] = [
  [
    /INSERT INTO public\.tenants \(id, name\) VALUES \((\w+), \w+\);/g,
    `$&
  INSERT INTO public.tenant_usage (tenant_id) VALUES ($1) ON CONFLICT DO NOTHING;`,
  ],
  [
    /DELETE FROM public\.tenants t WHERE t\.id = (\w+);/g,
    `$&
  DELETE FROM public.tenant_usage u WHERE u.tenant_id = $1;
  DELETE FROM public.usage_changes c WHERE c.tenant_id = $1;`,
  ],
  [
    /DELETE FROM public\.users u WHERE u\.id = (\w+);/g,
    'PERFORM public.note_erased_user($1);\n  $&',
  ],
  // The same rows twice need an order.
  [
    /(SELECT o\.id FROM public\.outbound_events o WHERE o\.tenant_id = tenant) (LIMIT)/g,
    '$1 ORDER BY o.id $2',
  ],
  [
    /DELETE FROM public\.outbound_events e WHERE ([^;]+);/g,
    `INSERT INTO public.ledger_removals (window_start, count, ids)
    SELECT public.ledger_window(e.created_at), count(*), bit_xor(public.ledger_bits(e.id))
    FROM public.outbound_events e WHERE $1 GROUP BY 1;
  $&`,
  ],
]

/** Citus joins no table of the coordinator with distributed ones, so the ledger reads the jobs first. */
const jobsRead: readonly Rule[] = [
  [
    /DECLARE\n/g,
    `DECLARE
  turns text[] := ARRAY(
    SELECT DISTINCT j.group_id FROM pgboss.job_common j
    WHERE j.name = 'endpoint-turn' AND j.state < 'completed');
  lost uuid[] := ARRAY(
    SELECT j.id FROM pgboss.job_common j WHERE j.name = 'deliver' AND j.state < 'completed');
`,
  ],
  [
    /IN \(\s*SELECT j\.group_id FROM pgboss\.job_common j\s+WHERE j\.name = 'endpoint-turn'[^)]*\)/g,
    '= ANY (turns)',
  ],
  [
    /NOT EXISTS \(\s*SELECT FROM pgboss\.job_common j\s+WHERE j\.name = 'deliver' AND j\.state < 'completed'\s+AND j\.id = (md5\(concat_ws\([^)]*\)\)::uuid)\)/g,
    '$1 <> ALL (lost)',
  ],
  [/SELECT FROM public\./g, 'SELECT 1 FROM public.'],
]

/**
 * The functions of the migrations that have another form on a distributed database, derived from them.
 * @param functions CREATE OR REPLACE FUNCTION, by name
 * @throws if a rule finds nothing, because a migration has other words: then what it stands for would be
 *   missing on a distributed database
 */
export function deriveFunctions(functions: ReadonlyMap<string, string>): Map<string, string> {
  const derived = new Map<string, string>()
  for (const name of rowFunctions) derived.set(name, toPlpgsql(requireFunction(functions, name)))
  const check = 'check_windows'
  derived.set(check, replaceAll(requireFunction(functions, check), jobsRead))
  for (const [name, statement] of functions) {
    const form = derived.get(name) ?? replaceAll(changeInTurn(statement), withoutTriggers)
    const own = lockOnCoordinator(form)
    if (own !== statement) derived.set(name, own)
  }
  if (![...derived.values()].some((text) => text.includes('{memberships}'))) {
    throw new Error('No function locks the row of a member in a form that is known.')
  }
  const texts = [...functions.values()]
  requireUse(withoutTriggers, texts)
  requireUse(jobsRead, [requireFunction(functions, check)])
  return derived
}

/**
 * Rows of people and members are locked in the coordinator's own copy of the table, through which every
 * write enters. Citus would lock the whole table instead, in two ways one after the other, so that two
 * writes that enter at the same moment end in a deadlock even if they are of different tenants.
 */
function lockOnCoordinator(statement: string): string {
  return statement
    .split(';')
    .map((part) =>
      /\bFOR (?:KEY SHARE|SHARE|NO KEY UPDATE|UPDATE)\b/.test(part)
        ? part.replaceAll(/\bFROM public\.(memberships|users)\b/g, 'FROM public.{$1}')
        : part,
    )
    .join(';')
}

const changesPeople = new RegExp(
  `\\b(?:INSERT INTO|UPDATE|DELETE FROM) public\\.(?:${peopleTables.join('|')})\\b`,
)

/**
 * What changes people, members or tenants waits for one lock of all such changes. Citus makes them one
 * after the other in any case, but locks the tables in an order that depends on the statement, so that two
 * sign-ins at the same moment would end in a deadlock.
 */
function changeInTurn(statement: string): string {
  if (!/\bLANGUAGE plpgsql\b/.test(statement)) return statement
  return statement
    .split(';')
    .map((part) => {
      const change = changesPeople.exec(part)
      if (change === null) return part
      // After the head of the block that the statement is in.
      const head =
        /^[\s\S]*\b(?:BEGIN|THEN|ELSE|LOOP)\n/.exec(part.slice(0, change.index))?.[0] ?? ''
      const lock = `${head === '' ? '\n' : ''}  PERFORM pg_advisory_xact_lock(${peopleLock});\n`
      return `${head}${lock}${part.slice(head.length)}`
    })
    .join(';')
}

type Rule = readonly [form: RegExp, own: string]

function replaceAll(statement: string, rules: readonly Rule[]): string {
  return rules.reduce((text, [form, own]) => text.replaceAll(form, own), statement)
}

function requireFunction(functions: ReadonlyMap<string, string>, name: string): string {
  const statement = functions.get(name)
  if (statement === undefined) throw new Error(`The migrations have no function ${name}.`)
  return statement
}

function requireUse(rules: readonly Rule[], statements: readonly string[]): void {
  for (const [form] of rules) {
    if (statements.every((text) => text.search(form) === -1)) {
      throw new Error(`No function of the migrations has ${form.source}`)
    }
  }
}

function toPlpgsql(statement: string): string {
  return statement
    .replace(/\bLANGUAGE sql\b/, 'LANGUAGE plpgsql')
    .replace(/\$\$([\s\S]*)\$\$/, (_, query: string) => {
      return `$$\n#variable_conflict use_column\nBEGIN\n  RETURN QUERY${query.trimEnd()};\nEND\n$$`
    })
}
