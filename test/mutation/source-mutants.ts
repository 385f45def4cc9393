import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { applyCut, type Cut, closingOf, cutsOf, elementsOf, nameOf } from './cut.ts'
import { type Mutant, tests } from './mutant.ts'

type Find = (text: string) => Cut[]

/** The files to change, the changes, and the tests that should fail. */
type Hunt = { kind: string; files: string[]; find: Find; tests: readonly string[] }

const decisions = [tests.rules, tests.policy, tests.matrix]
const guards = {
  authz: [tests.authz, tests.revoked, tests.matrix],
  session: [tests.session, tests.leave, tests.login, tests.matrix],
  'require-access': [tests.routeAccess],
  'forwarded-request': [tests.forwardAuth],
  credential: [tests.crossOrigin, tests.tokens, tests.matrix],
  'security-headers': [tests.securityHeaders],
  'tenant-rls': [tests.tenant, tests.matrix],
  'portal-session': [tests.openPortal, tests.portalPages, tests.matrix],
  'app-origins': [tests.appOrigins],
}

const hunts: readonly Hunt[] = [
  { kind: 'rule', files: ['src/access/policy.ts'], find: policyRules, tests: decisions },
  { kind: 'decision', files: ['src/access/policy.ts'], find: conditions, tests: decisions },
  {
    kind: 'rule',
    files: ['src/resources/*.ts'],
    find: declaredRules,
    tests: [tests.policy, tests.matrix],
  },
  { kind: 'decision', files: ['src/resources/conditions.ts'], find: facts, tests: decisions },
  ...kitHunts(),
  { kind: 'role', files: ['src/access/roles.ts'], find: rolePermissions, tests: decisions },
  {
    kind: 'scope',
    files: ['src/domain/*.ts', 'src/access/*.ts'],
    find: scopeClauses,
    tests: [tests.sameIds, tests.folders, tests.queryScope, tests.matrix],
  },
  {
    kind: 'scope',
    files: ['src/webhooks/**/*.ts'],
    find: scopeClauses,
    tests: [tests.twins, tests.queryScope, tests.matrix],
  },
  {
    kind: 'scope',
    files: [
      'src/audit/list.ts',
      'src/auth/{api-tokens,members,portal,service-tokens}/*.ts',
      'src/auth/sessions/{list,sign-out}.ts',
      'src/auth/sign-in/identities.ts',
    ],
    find: scopeClauses,
    tests: [tests.ownTenant, tests.queryScope, tests.unlink, tests.matrix],
  },
  { kind: 'route', files: ['routes/**/*.ts'], find: routeAccess, tests: [tests.matrix] },
  ...Object.entries(guards).map(([plugin, tests]) => ({
    kind: 'hook',
    files: [`plugins/*/${plugin}.ts`],
    find: (text: string) => [...hooks(text), ...conditions(text)],
    tests,
  })),
  {
    kind: 'form',
    files: ['src/pages/kit/form-submission.ts'],
    find: (text) => [
      ...conditions(text),
      ...cutsOf(text, /(SET secret = NULL|AND created_at > [^\n]*)/g, ''),
    ],
    tests: [tests.forms],
  },
  {
    kind: 'linking',
    files: ['src/auth/sign-in/account-linking.ts'],
    find: conditions,
    tests: [tests.linking],
  },
  {
    kind: 'evidence',
    files: ['src/auth/sign-in/complete.ts'],
    find: (text) => cutsOf(text, /nowSeconds - authenticatedAt/g, '0'),
    tests: [tests.reauthenticate],
  },
  {
    kind: 'evidence',
    files: ['src/auth/sessions/enter.ts'],
    find: (text) => cutsOf(text, /operators\.has\(.*\)/g, 'operators.size > 0'),
    tests: [tests.operators],
  },
  {
    kind: 'budget',
    files: ['src/runtime/byte-budget.ts'],
    find: conditions,
    tests: [tests.budget],
  },
  { kind: 'count', files: ['src/audit/refusals.ts'], find: conditions, tests: [tests.refusals] },
  {
    kind: 'return',
    files: ['src/http/return-path.ts'],
    find: conditions,
    tests: [tests.returnPath],
  },
  {
    kind: 'cross-origin',
    files: ['src/http/headers/cross-origin.ts'],
    find: conditions,
    tests: [tests.crossOrigin, tests.forwardAuth],
  },
  {
    kind: 'forwarded',
    files: ['src/http/headers/forwarded-request.ts'],
    find: (text) => cutsOf(text, /methods\.length > 0 && | && !isWebSocket/g, ''),
    tests: [tests.forwardedRequest, tests.forwardAuth],
  },
  {
    kind: 'identity',
    files: ['src/auth/forward-auth/identity.ts'],
    find: (text) => [...conditions(text), ...cutsOf(text, /isEmailVerified(?= \?)/g, 'true')],
    tests: [tests.forwardAuth],
  },
  {
    kind: 'lock',
    files: ['src/db/database.ts'],
    find: (text) =>
      cutsOf(text, /(?<=entry\.statement\()(access === 'write'|true)(?=\))/g, 'false'),
    tests: [tests.entryLocks],
  },
  {
    kind: 'portal',
    files: ['plugins/access/portal-session.ts'],
    find: (text) => [
      ...cutsOf(text, /isFromElsewhere\(request\)(?= \?)/g, 'false'),
      ...cutsOf(text, / && equalBytes\(.*expected\)/g, ''),
    ],
    tests: [tests.openPortal, tests.portalPages],
  },
  // What is foreseen is of this request, and no time has passed unseen.
  {
    kind: 'foreseen',
    files: ['src/auth/sessions/enter.ts'],
    find: (text) => [
      ...cutsOf(text, /(?<=\.\.\.facts), authenticatedSecondsAgo: null/g, ''),
      ...cutsOf(text, / +asked: \(row\) => .*\n/g, ''),
    ],
    tests: [tests.latestRows, tests.shortWrites],
  },
  {
    kind: 'packet',
    files: ['src/db/database.ts'],
    find: (text) => cutsOf(text, /(?<=entry\.)replacesScope(?= \? shared)/g, 'statement'),
    tests: [tests.sharedReads],
  },
  {
    kind: 'rotation',
    files: ['src/auth/app-tokens/app-tokens.ts'],
    find: (text) => cutsOf(text, /if \(\(await lockAppToken.*\n(?= +const secret)/g, ''),
    tests: [tests.appTokenRoutes],
  },
  ...queueHunts(),
  {
    kind: 'cross-origin',
    files: ['plugins/http/cors.ts'],
    find: (text) => cutsOf(text, / \|\| !allowed\.has\(origin\)/g, ''),
    tests: [tests.cors],
  },
  {
    kind: 'compressed',
    files: ['plugins/http/compression.ts'],
    find: (text) => cutsOf(text, / +if \(!isBearer\(credential\)\) return false\n/g, ''),
    tests: [tests.compression],
  },
  {
    kind: 'cursor',
    files: ['src/http/lists/pagination.ts'],
    find: (text) => cutsOf(text, /(?<=`\$\{list\})\$\{binding\}(?=`)/g, ''),
    tests: [tests.lists],
  },
  {
    kind: 'value',
    files: ['src/http/schemas.ts', 'plugins/api/schema-compilers.ts'],
    find: (text) => cutsOf(text, /, (pattern: uuidForm\.source|onCreate: limitTimes)/g, ''),
    tests: [tests.requestValues],
  },
  {
    kind: 'state',
    files: ['src/db/errors.ts'],
    find: (text) => cutsOf(text, /^ {2}'[0-9A-Z]{2,5}', \/\/.*\n/gm, ''),
    tests: [tests.databaseErrors],
  },
  {
    kind: 'role given',
    files: ['routes/{api,pages}/**/*.ts'],
    find: (text) => cutsOf(text, /\brequireAssignableRole\(\w+, [\w.]+\)/g, ''),
    tests: [tests.newTokens],
  },
  {
    kind: 'guard',
    files: ['src/app.ts'],
    find: (text) =>
      cutsOf(
        text,
        /await app\.register\((authz|credential|tenantRls|portalSession|appOrigins)\b.*\)\n/g,
        '',
      ),
    tests: [tests.matrix, tests.appOrigins],
  },
]

/** What every declared resource has. */
function kitHunts(): Hunt[] {
  const hunt = (
    file: string,
    pattern: RegExp,
    instead: string,
    test: string = tests.resources,
  ): Hunt => ({
    kind: 'kit',
    files: [file],
    find: (text) => cutsOf(text, pattern, instead),
    tests: [test],
  })
  const [actions, rows] = ['src/domain/actions.ts', 'src/domain/rows.ts']
  const [routes, derived] = ['routes/api/resources/declared.ts', 'src/resources/kit/derived.ts']
  return [
    hunt(actions, /if \(tenantId !== null\) await publishOne\(.*\)\n/g, ''),
    hunt(
      actions,
      /(?<=ownAct\(act, )tenantId(?=\), update)/g,
      'act.caller.tenantId',
      tests.actions,
    ),
    hunt(actions, /await check\(lock\)\n/g, ''),
    hunt(actions, /effect === 'allow'/g, `effect !== 'never'`, tests.matrix),
    hunt(rows, /(?<=values\[key\]) \?\? one\.initial\?\.\(caller, now\)/g, ''),
    hunt(rows, /(?<=`\$\{column\(key\)\} = \$\{)parameterOf\(one, now\)/g, 'column(key)'),
    hunt(rows, /\$\{tagged\(tags\)\}/g, '', tests.shortWrites),
    hunt(
      'src/domain/row-json.ts',
      /WHEN \$\{value\} - \$\{known\} <> '\{\}' THEN \$\{value\}::text /g,
      '',
      tests.rowJson,
    ),
    hunt(rows, /Prisma\.sql`ASC`, Prisma\.sql`>`/g, 'Prisma.sql`DESC`, Prisma.sql`>`', tests.lists),
    hunt(routes, /idempotencyKey: true/g, 'idempotencyKey: false'),
    hunt(routes, /additionalProperties: false/g, 'additionalProperties: true'),
    hunt(derived, /token \?\? permission/g, 'permission', tests.rules),
    hunt(derived, /forServices: resource\.forServices/g, 'forServices: true', tests.rules),
  ]
}

/** One snapshot per read, one event of an object at a time, room beside endpoints that hang. */
function queueHunts(): Hunt[] {
  const hunt = (file: string, pattern: RegExp, instead: string, test: string): Hunt => ({
    kind: 'queue',
    files: [file],
    find: (text) => cutsOf(text, pattern, instead),
    tests: [test],
  })
  return [
    hunt(
      'src/db/connections/transaction.ts',
      /ISOLATION LEVEL REPEATABLE READ /g,
      '',
      tests.snapshot,
    ),
    hunt('src/billing/worker.ts', /await lockUntilCommit\(.*\)\n/g, '', tests.groups),
    hunt('src/billing/worker.ts', /groupConcurrency: 1,/g, '', tests.groups),
    hunt('src/billing/worker.ts', /deps\.api && limitByCustomer\(.*\)/g, 'deps.api', tests.groups),
    hunt('src/webhooks/client/address-limit.ts', /full !== null/g, 'false', tests.addressLimit),
    hunt('src/webhooks/delivery/dispatch.ts', /metrics\.postponed\.inc.*\n/g, '', tests.ownFaults),
    hunt('src/webhooks/history/replays.ts', /open\.length > 1/g, 'false', tests.turns),
    hunt('src/webhooks/history/replays.ts', /, singletonKey: tenantId/g, '', tests.turns),
    hunt('src/auth/provider-tokens/revoke.ts', /if \(fault === lacksKey\) .*\n/g, '', tests.revoke),
    hunt('src/queue/job-table.ts', / && response\.affected === 1/g, '', tests.process),
    hunt('src/queue/job-table.ts', / AND retry_count = \$\{retryCount\}/g, '', tests.jobTable),
    hunt('src/queue/due-jobs.ts', /if \(.*\) takeover\.distrust\(\)\n/g, '', tests.dueJobs),
    hunt(
      'src/billing/forward.ts',
      /if \(waiting > 0\) .*\n|, forwardAttempts: attempts/g,
      '',
      tests.forward,
    ),
    hunt('src/queue/consumer.ts', /room >> 1/g, 'room', tests.consumer),
    hunt(
      'src/queue/takeover.ts',
      /if \(performance\.now\(\) < trustedFrom\) return\n/g,
      '',
      tests.takeover,
    ),
    hunt(
      'src/webhooks/health/state.ts',
      /(?<=\()failingSince(?= \?\? now\)\.getTime\(\))/g,
      'state.lastSuccessAt',
      tests.health,
    ),
  ]
}

/**
 * Every mutant of the tree at `root`.
 * @throws if a hunt finds none
 */
export async function findSourceMutants(root: string): Promise<Mutant[]> {
  const mutants: Mutant[] = []
  for (const { kind, files, find, tests } of hunts) {
    const before = mutants.length
    for await (const path of glob(files, { cwd: root })) {
      const text = await readFile(join(root, path), 'utf8')
      for (const cut of find(text)) {
        const source = { path, text: applyCut(text, cut) }
        mutants.push({ name: `${kind} ${path}:${cut.name}`, source, tests })
      }
    }
    // Its files or their text have changed, and the hunt with them.
    if (mutants.length === before) throw new Error(`No ${kind} is found in ${files.join(', ')}.`)
  }
  return mutants.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Removes each rule, and each rule's permission, scope and conditions. */
function policyRules(text: string): Cut[] {
  const list = text.indexOf('= [', text.indexOf('export const policy')) + 2
  const rules = elementsOf(text, list + 1, closingOf(text, list))
  const managed = /(?<=allow\(resource, action, )'tenant', 'user:manage'(?=, )/g
  const each = rules.flatMap(({ from, to }) => {
    const rule = text.slice(from, to)
    const within = (pattern: RegExp, instead: string): Cut[] =>
      cutsOf(rule, pattern, instead).map((cut) => ({
        from: from + cut.from,
        to: from + cut.to,
        instead,
        name: `${nameOf(text, from + cut.from, rule)} without ${cut.name.replace(/^\d+: /, '')}`,
      }))
    return [
      { from, to, instead: '', name: nameOf(text, from + 3, rule) },
      ...within(/'(tenant|chain|operator)'/g, `'owner'`),
      // The fourth argument only; the fifth has the same form.
      ...within(/(?<=^\s*allow\('[\w-]+', '\w+', '\w+', )'[\w:]+'/g, 'null'),
      ...within(/(?<=^\s*own\('[\w-]+', '\w+', )'session'/g, `'any'`),
      ...within(/(?<=^\s*own\('[\w-]+', '\w+', )'recent-session'/g, `'session'`),
    ]
  })
  return [
    ...each,
    ...cutsOf(text, managed, `'tenant', null`),
    ...cutsOf(text, managed, `'owner', 'user:manage'`),
  ]
}

/** Weakens the rules of a declared resource. */
function declaredRules(text: string): Cut[] {
  return [
    ...cutsOf(text, /(?<=permission: )'(?!post:read)[\w:]+'/g, `'post:read'`),
    ...cutsOf(text, /(?<=unless: \[[^\]]*)\b(ofAnotherDepartment|outsideOfficeHours)\b/g, ''),
    ...cutsOf(text, /(?<=scope: )'chain'/g, `'tenant'`),
    ...cutsOf(text, /forServices: true/g, 'forServices: false'),
  ]
}

/** Leaves out each fact that a condition compares. */
function facts(text: string): Cut[] {
  return [
    ...conditions(text),
    ...cutsOf(text, /role === 'editor'/g, 'false'),
    ...cutsOf(text, /department === null \|\| | \|\| department !== object\.department/g, ''),
  ]
}

/** Replaces each condition by false, and shifts each comparison by one. */
function conditions(text: string): Cut[] {
  const ifs = [...text.matchAll(/\bif \(/g)].map(({ index }) => {
    const from = index + 4
    const to = closingOf(text, from - 1)
    return { from, to, instead: 'false', name: nameOf(text, from, text.slice(from, to)) }
  })
  return [...ifs, ...cutsOf(text, / >= /g, ' > '), ...cutsOf(text, / < /g, ' <= ')]
}

function rolePermissions(text: string): Cut[] {
  const from = text.indexOf('export const rolePermissions')
  const to = text.indexOf('}', from)
  return cutsOf(text, /'[a-z]+:[a-z]+'(, )?/g, '').filter((cut) => cut.from > from && cut.to < to)
}

/** Removes each owner or tenant from a `where` or hand-written SQL. */
function scopeClauses(text: string): Cut[] {
  const wheres = [...text.matchAll(/\bwhere: \{/g)].flatMap(({ index, 0: start }) => {
    const open = index + start.length - 1
    return elementsOf(text, open + 1, closingOf(text, open))
  })
  const clauses = wheres
    .map(({ from, to }) => ({ from, to, instead: '', piece: text.slice(from, to) }))
    .filter(({ piece }) => /^\s*(tenantId|userId|id: scope|\.\.\.scope)\b/.test(piece))
    .map(({ piece, ...cut }) => ({ ...cut, name: nameOf(text, cut.from + 1, piece) }))
  return [
    ...clauses,
    ...cutsOf(text, /\bteam_id IN \(\$\{ownTeams\(\w+\)\}\)|\bteam_id = own\.team_id/g, 'true'),
    ...cutsOf(text, /\b(\w+\.)?(tenant_id|user_id) = \(SELECT current_\w+_id\(\)\)/g, 'true'),
    ...cutsOf(text, /\b(\w+\.)?(tenant_id|user_id) = \$\{[^}]*\}(::\w+)?/g, 'true'),
    ...[...text.matchAll(/\b(?:\w+\.)?(?:tenant_id|user_id) = (\$\d)/g)].map((match) => ({
      from: match.index,
      to: match.index + match[0].length,
      instead: `${match[1]}::text IS NOT NULL`,
      name: nameOf(text, match.index, match[0]),
    })),
  ]
}

/** Weakens the access of each route. */
// Every live credential may read the profile.
const weakest = `{ resource: 'profile', action: 'read' }`

function routeAccess(text: string): Cut[] {
  return [
    ...cutsOf(text, /\{ resource(: (?!'profile')['\w.-]+)?, action(: '\w+')? \}/g, weakest),
    ...cutsOf(text, /(?<=config: access\()'\w+', '\w+'/g, `'profile', 'read'`),
    ...cutsOf(text, /(?<=config: \w+\((resource, )?)'(create|update|delete)'(?=\))/g, `'read'`),
    ...cutsOf(text, /(?<=config: \{ access: )'signature'/g, `'public'`),
  ]
}

function hooks(text: string): Cut[] {
  return [...text.matchAll(/\bapp\.(addHook|setErrorHandler)\(/g)].map(({ index, 0: start }) => {
    const to = closingOf(text, index + start.length - 1) + 1
    return { from: index, to, instead: '', name: nameOf(text, index, text.slice(index, to)) }
  })
}
