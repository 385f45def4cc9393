import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { applyCut, closingOf, cutsOf, elementsOf, nameOf } from './cut.ts'
import { carryOut, type Form, form } from './hunt.ts'
import { type Mutant, tests } from './mutant.ts'

/** The files to change (something is found in each pattern), the changes, and the tests that should fail. */
type SourceHunt = {
  kind: string
  files: readonly string[]
  forms: readonly Form[]
  tests: readonly string[]
  /** See `Mutant`. */
  routes?: string
}

/** Cuts each match of the pattern within a rule of the policy. */
function inRules(pattern: RegExp, instead: string): Form {
  return {
    name: `${pattern} in a rule`,
    cutsIn: (text) =>
      rulesOf(text).flatMap(({ from, to }) => {
        const rule = text.slice(from, to)
        return cutsOf(rule, pattern, instead).map((cut) => ({
          from: from + cut.from,
          to: from + cut.to,
          instead,
          name: `${nameOf(text, from + cut.from, rule)} without ${cut.name.replace(/^\d+: /, '')}`,
        }))
      }),
  }
}

function rulesOf(text: string) {
  const list = text.indexOf('= [', text.indexOf('export const policy')) + 2
  return elementsOf(text, list + 1, closingOf(text, list))
}

/** Removes each rule, and each rule's permission, scope and conditions. */
const policyRules: readonly Form[] = [
  {
    name: 'a rule',
    cutsIn: (text) =>
      rulesOf(text).map(({ from, to }) => ({
        ...{ from, to, instead: '' },
        name: nameOf(text, from + 3, text.slice(from, to)),
      })),
  },
  // The first argument is the resource, and a resource is called tenant too.
  ...['tenant', 'operator'].map((scope) =>
    inRules(new RegExp(`(?<=, )'${scope}'`, 'g'), `'owner'`),
  ),
  // The fourth argument only; the fifth has the same form.
  inRules(/(?<=^\s*allow\('[\w-]+', '\w+', '\w+', )'[\w:]+'/g, 'null'),
  inRules(/(?<=^\s*own\('[\w-]+', '\w+', )'session'/g, `'any'`),
  inRules(/(?<=^\s*own\('[\w-]+', '\w+', )'recent-session'/g, `'session'`),
  form(/(?<=allow\(resource, action, )'tenant'(?=, 'user:manage', )/g, `'owner'`),
  form(/(?<=allow\(resource, action, 'tenant', )'user:manage'(?=, )/g, 'null'),
]

/** Weakens the rules of a declared resource. */
const declaredRules: readonly Form[] = [
  form(/(?<=permission: )'(?!post:read)[\w:]+'/g, `'post:read'`),
  form(/(?<=unless: \[[^\]]*)\bofAnotherDepartment, /g, ''),
  form(/(?<=unless: \[[^\]]*)\boutsideOfficeHours\b/g, ''),
  form(/(?<=scope: )'chain'/g, `'tenant'`),
  form(/forServices: true/g, 'forServices: false'),
]

/** Replaces each condition by false, and shifts each comparison by one. */
const conditions: readonly Form[] = [
  {
    name: 'if',
    cutsIn: (text) =>
      [...text.matchAll(/\bif \(/g)].map(({ index }) => {
        const from = index + 4
        const to = closingOf(text, from - 1)
        return { from, to, instead: 'false', name: nameOf(text, from, text.slice(from, to)) }
      }),
  },
  form(/ >= /g, ' > '),
  form(/ < /g, ' <= '),
]

/** Leaves out each fact that a condition compares. */
const facts: readonly Form[] = [
  ...conditions,
  form(/role === 'editor'/g, 'false'),
  form(/department === null \|\| /g, ''),
  form(/ \|\| department !== object\.department/g, ''),
]

const rolePermissions: Form = {
  name: 'a permission of a role',
  cutsIn: (text) => {
    const from = text.indexOf('const specified: Roles')
    const to = text.indexOf('}', from)
    return cutsOf(text, /'[a-z]+:[a-z]+'(, )?/g, '').filter((cut) => cut.from > from && cut.to < to)
  },
}

/**
 * Removes each owner or tenant from a `where` or hand-written SQL. A list of users that the caller has found is
 * no scope. What a search asks its words with (`asking`) decides how the rows are found, and none is found by it alone.
 */
const scopeClauses: readonly Form[] = [
  {
    name: 'where',
    cutsIn: (text) =>
      [...text.matchAll(/\bwhere(: | = )\{/g)]
        .flatMap(({ index, 0: start }) => {
          const open = index + start.length - 1
          return elementsOf(text, open + 1, closingOf(text, open))
        })
        .map(({ from, to }) => ({ from, to, instead: '', piece: text.slice(from, to) }))
        .filter(({ piece }) =>
          /^\s*(tenantId|userId(?!: \{ in)|id: scope|\.\.\.scope)\b/.test(piece),
        )
        .map(({ piece, ...cut }) => ({ ...cut, name: nameOf(text, cut.from + 1, piece) })),
  },
  form(/\bteam_id IN \(\$\{ownTeams\(\w+\)\}\)/g, 'true'),
  form(/\bteam_id = own\.team_id/g, 'true'),
  form(/ AND team_id IN \(\s+SELECT [^`]*(?=`)/g, ''),
  {
    name: 'tenant_id or user_id',
    // The value stays: a statement that is composed once checks that it has all its values.
    cutsIn: (text) =>
      cutsOf(
        text,
        /\b(\w+\.)?(tenant_id|user_id) = \$\{(?!asking\.)[^}]*\}(::\w+|\.\w+)?/g,
        '',
      ).map((cut) => ({
        ...cut,
        instead: `(true OR ${text.slice(cut.from, cut.to)})`,
      })),
  },
]

// Every live credential may read the profile.
const weakest = `{ resource: 'profile', action: 'read' }`

/** Weakens the access of each route. */
const routeAccess: readonly Form[] = [
  form(/\{ resource(: (?!'profile')['\w.-]+)?, action(: '\w+')? \}/g, weakest),
  form(/(?<=config: access\()'\w+', '\w+'/g, `'profile', 'read'`),
  ...['create', 'update', 'delete'].map((action) =>
    form(new RegExp(`(?<=config: \\w+\\((resource, )?)'${action}'(?=\\))`, 'g'), `'read'`),
  ),
  form(/(?<=config: \{ access: )'signature'/g, `'public'`),
]

const hooks: readonly Form[] = ['addHook', 'setErrorHandler'].map((method) => ({
  name: method,
  cutsIn: (text) =>
    [...text.matchAll(new RegExp(`\\bapp\\.${method}\\(`, 'g'))].map(({ index, 0: start }) => {
      const to = closingOf(text, index + start.length - 1) + 1
      return { from: index, to, instead: '', name: nameOf(text, index, text.slice(index, to)) }
    }),
}))

/** The signature of an event of the billing provider, before anything else reads it. */
const inboundHunts: readonly SourceHunt[] = [
  {
    kind: 'signature',
    files: ['src/billing/signature.ts'],
    forms: [
      ...conditions,
      form(/ > (?=toleranceSeconds|1\b)/g, ' >= '),
      form(/ <= (?=maxSignatures)/g, ' < '),
      form(/ \|\| timestamps\.length > 1/g, ''),
      form(/(?<=return )isAcceptedNumber\(signatures\.length\)(?= \?)/g, 'true'),
      form(/(?<=`\$\{timestamp\}\.`, )body(?=\))/g, 'new Uint8Array()'),
    ],
    tests: [tests.signature],
  },
  {
    kind: 'signature',
    files: ['paddle', 'standard', 'stripe'].map((name) => `src/billing/providers/${name}.ts`),
    forms: [
      form(/(?<=if \()!isUnixSeconds\(timestamp\)(?=\))/g, 'false'),
      form(/(?<=if \()rest\.length > 0 \|\| (?=!digestForm)/g, ''),
      form(/(?<= \|\| )!digestForm\.test\(value\)(?=\))/g, 'false'),
      form(/(?<=if \()version !== 'v1'(?=\))/g, 'false'),
      form(/isName\(id\)(?= \? readHeaders)/g, 'true'),
      form(/(?<=return )isAcceptedNumber\(signatures\.length\)(?= \?)/g, 'true'),
      form(/(?<=[`:.]`, )body(?=\))/g, 'new Uint8Array()'),
      form(
        /(?<=verify: .*\n +)verifySignature\(.*\)/g,
        `({ ok: true, timestamp: now, secretIndex: 0 })`,
      ),
    ],
    tests: [tests.standard, tests.paddle, tests.stripe, tests.signature],
  },
  {
    kind: 'hook',
    files: ['plugins/webhooks/webhook-verify.ts'],
    forms: [...hooks, ...conditions],
    tests: [tests.inbound, tests.inboundOutcomes, tests.inboundBudget, tests.inboundFailures],
  },
]

/** Addresses that a customer's endpoint may not have. */
const guardHunts: readonly SourceHunt[] = [
  {
    kind: 'address',
    files: ['src/webhooks/client/ip-ranges.ts'],
    forms: [...conditions, form(/^ {2}\['[0-9a-f:.]+\/\d+', .*\n/gm, '')],
    tests: [tests.ipRanges],
  },
  {
    kind: 'address',
    files: ['src/webhooks/client/url.ts'],
    forms: [
      ...conditions,
      form(/'\.[a-z.]+',? ?(?=.*\]\n)/g, ''),
      form(/!\(exempt && url\.protocol === 'http:'\)/g, '!exempt'),
      form(/ \|\| url\.password !== ''/g, ''),
      form(/url\.username !== '' \|\| /g, ''),
      form(/!name\.includes\('\.'\) \|\| /g, ''),
      form(/ \|\| name\.endsWith\('\.'\)/g, ''),
      form(/ > (?=maxUrlLength)/g, ' >= '),
    ],
    tests: [tests.endpointUrl, 'test/routes/api/webhook-endpoints.test.ts'],
  },
  {
    kind: 'address',
    files: ['src/webhooks/client/dns.ts'],
    forms: [
      ...conditions,
      form(/refusedRange\(address\) \?\? /g, ''),
      form(/own\.includes\(address\)(?= \?)/g, 'false'),
    ],
    tests: [tests.dns, tests.resolve, tests.guard],
  },
  {
    kind: 'address',
    files: ['src/webhooks/client/connection.ts', 'src/webhooks/client/client.ts'],
    forms: [
      form(/peer\.addresses\.includes\(reached\)/g, 'true'),
      form(/rejectUnauthorized: true/g, 'rejectUnauthorized: false'),
      form(/servername: isIP.* : ''/g, `servername: ''`),
      form(/if \('refused' in read\) throw .*\n/g, ''),
    ],
    tests: [tests.connection, tests.tls, tests.guard, tests.client],
  },
]

const decisions = [tests.rules, tests.policy, tests.matrix]
const guards = {
  authz: [tests.authz, tests.rateLimit, tests.revoked, tests.matrix],
  session: [tests.session, tests.notFound, tests.leave, tests.login, tests.matrix],
  'require-access': [tests.routeAccess],
  'forwarded-request': [tests.forwardAuth],
  credential: [tests.crossOrigin, tests.tokens, tests.app, tests.forwardAuth, tests.matrix],
  'security-headers': [tests.securityHeaders, tests.parserAnswers],
  'tenant-rls': [tests.tenant, tests.matrix],
  'portal-session': [tests.openPortal, tests.portalPages, tests.matrix],
  'app-origins': [tests.appOrigins],
}

const hunts: readonly SourceHunt[] = [
  { kind: 'rule', files: ['src/access/policy.ts'], forms: policyRules, tests: decisions },
  {
    kind: 'decision',
    files: ['src/access/policy.ts'],
    forms: [...conditions, form(/ (?:&&|\|\|) namesTenant\b/g, '')],
    tests: decisions,
  },
  {
    kind: 'rule',
    files: ['examples/shop/resources/*.ts', 'src/resources/invoices.ts'],
    forms: declaredRules,
    tests: [tests.policy, tests.matrix],
  },
  {
    kind: 'decision',
    files: ['examples/shop/resources/conditions.ts'],
    forms: facts,
    tests: decisions,
  },
  ...kitHunts(),
  { kind: 'role', files: ['src/resources/roles.ts'], forms: [rolePermissions], tests: decisions },
  {
    kind: 'scope',
    files: ['src/{rows,teams}/*.ts', 'src/access/*.ts'],
    forms: scopeClauses,
    tests: [
      tests.sameIds,
      tests.folders,
      tests.ownTenant,
      tests.shortWrites,
      'test/billing/tenant-customer.test.ts',
      tests.queryScope,
      tests.matrix,
    ],
    routes:
      '/teams; /folders; /documents; /posts; /orders; /invoices; /app/teams; /app/welcome; /notifications',
  },
  {
    kind: 'scope',
    files: ['src/webhooks/**/*.ts'],
    forms: scopeClauses,
    tests: [tests.twins, tests.twinsWork, tests.ownTenant, tests.queryScope, tests.matrix],
    routes:
      '/webhook-endpoints; /deliveries; /events; /event-types; /app/webhooks; /app/deliveries; /portal; /tenants',
  },
  {
    kind: 'scope',
    files: [
      'src/audit/list.ts',
      ...['members', 'portal', 'tokens'].map((name) => `src/auth/${name}/*.ts`),
      'src/auth/sessions/list.ts',
      'src/auth/sessions/sign-out.ts',
      'src/auth/sign-in/identities.ts',
    ],
    forms: scopeClauses,
    tests: [tests.ownTenant, tests.queryScope, tests.unlink, tests.matrix],
    routes: '/auth; /app/account; /app/tenant; /service-tokens; /invitations; /tenants; /session',
  },
  {
    kind: 'route',
    files: ['routes/**/*.ts', 'src/**/*actions.ts'],
    forms: routeAccess,
    // Only the archive app has lists below another row.
    tests: [tests.matrix, tests.archive],
  },
  ...Object.entries(guards).map(([plugin, tests]) => ({
    kind: 'hook',
    files: [`plugins/*/${plugin}.ts`],
    forms: [...hooks, ...conditions],
    tests,
  })),
  {
    kind: 'form',
    files: ['src/pages/kit/form-submission.ts'],
    forms: [...conditions, form(/SET secret = NULL/g, ''), form(/AND created_at > [^\n]*/g, '')],
    tests: [tests.forms],
  },
  {
    kind: 'form',
    files: ['plugins/pages/forms.ts'],
    forms: conditions,
    tests: [tests.formRoutes],
  },
  {
    kind: 'linking',
    files: ['src/auth/sign-in/account-linking.ts'],
    forms: [
      ...conditions,
      form(/path !== null && /g, ''),
      form(/ && path === localPath\(other\)/g, ''),
      form(/invited && (?=\(emailTrusted)/g, ''),
      form(/ \|\| hasLink/g, ' || true'),
      form(/signUp === 'open' \|\| /g, ''),
      form(/ \|\| isOperator/g, ''),
    ],
    tests: [tests.linking],
  },
  {
    kind: 'evidence',
    files: ['src/auth/sign-in/complete.ts'],
    forms: [form(/nowSeconds - authenticatedAt/g, '0')],
    tests: [tests.reauthenticate],
  },
  {
    kind: 'evidence',
    files: ['src/auth/sessions/enter.ts'],
    forms: [form(/operators\.has\(.*\)/g, 'operators.size > 0')],
    tests: [tests.operators],
  },
  {
    kind: 'budget',
    files: ['src/runtime/byte-budget.ts'],
    forms: conditions,
    tests: [tests.budget],
  },
  { kind: 'count', files: ['src/audit/refusals.ts'], forms: conditions, tests: [tests.refusals] },
  {
    kind: 'return',
    files: ['src/http/return-path.ts'],
    forms: conditions,
    tests: [tests.returnPath, tests.deepLink],
  },
  {
    kind: 'cross-origin',
    files: ['src/http/headers/cross-origin.ts'],
    forms: conditions,
    tests: [tests.crossOrigin, tests.forwardAuth],
  },
  {
    kind: 'forwarded',
    files: ['src/http/headers/forwarded-request.ts'],
    forms: [form(/methods\.length > 0 && /g, ''), form(/ && !isWebSocket/g, '')],
    tests: [tests.forwardedRequest, tests.forwardAuth],
  },
  {
    kind: 'identity',
    files: ['src/auth/forward-auth/identity.ts'],
    forms: [...conditions, form(/isEmailVerified(?= \?)/g, 'true')],
    tests: [tests.forwardAuth],
  },
  {
    kind: 'lock',
    files: ['src/db/{one-packet,transactions}.ts'],
    forms: [form(/(?<=entry\.statement\()access === 'write'(?=[ )])/g, 'false')],
    tests: [tests.entryLocks],
  },
  {
    kind: 'portal',
    files: ['plugins/access/portal-session.ts'],
    forms: [
      form(/isFromElsewhere\(request\)(?= \?)/g, 'false'),
      form(/ && equalBytes\(.*expected\)/g, ''),
    ],
    tests: [tests.openPortal, tests.portalPages],
  },
  // What is foreseen is of this request, and no time has passed unseen.
  {
    kind: 'foreseen',
    files: ['src/auth/sessions/enter.ts'],
    forms: [
      form(/(?<=\.\.\.facts), authenticatedSecondsAgo: null/g, ''),
      form(/ +asked: \(row\) => .*\n/g, ''),
    ],
    tests: [tests.latestRows, tests.shortWrites],
  },
  {
    kind: 'packet',
    files: ['src/db/one-packet.ts'],
    forms: [
      form(/(?<=entry\.)replacesScope(?= \? shared)/g, 'statement'),
      form(/(?<=entry\.)replacesScope(?= \? anyPlace)/g, 'statement'),
    ],
    tests: [tests.sharedReads],
  },
  {
    kind: 'rotation',
    files: ['src/auth/tokens/store.ts'],
    forms: [form(/if \(\(await lockToken.*\n(?= +const secret)/g, '')],
    tests: [tests.appTokenRoutes],
  },
  ...appHookHunts(),
  ...queueHunts(),
  ...inboundHunts,
  ...guardHunts,
  {
    kind: 'cross-origin',
    files: ['plugins/http/cors.ts'],
    forms: [form(/ \|\| !allowed\.has\(origin\)/g, '')],
    tests: [tests.cors],
  },
  {
    kind: 'compressed',
    files: ['plugins/http/compression.ts'],
    forms: [form(/ +if \(!isBearer\(credential\)\) return false\n/g, '')],
    tests: [tests.compression],
  },
  {
    kind: 'cursor',
    files: ['src/http/lists/pagination.ts'],
    forms: [form(/(?<=`\$\{list\})\$\{binding\}(?=`)/g, '')],
    tests: [tests.lists],
  },
  {
    kind: 'value',
    files: ['src/http/schemas.ts', 'plugins/api/schema-compilers.ts'],
    forms: [form(/, pattern: uuidForm\.source/g, ''), form(/, onCreate: limitTimes/g, '')],
    tests: [tests.requestValues],
  },
  {
    kind: 'state',
    files: ['src/db/errors.ts'],
    forms: [form(/^ {2}'[0-9A-Z]{2,5}', \/\/.*\n/gm, '')],
    tests: [tests.databaseErrors],
  },
  {
    kind: 'role given',
    files: ['src/auth/members/actions.ts', 'routes/pages/**/*.ts'],
    forms: [form(/\brequireAssignableRole\(\w+, [\w.]+, \w+\)/g, '')],
    tests: [tests.newTokens],
  },
  {
    kind: 'role given',
    files: ['src/access/policy.ts'],
    forms: [
      form(/ && to !== userId$/gm, ''),
      form(/(?<=manages = )isSession && (?=giver)/g, ''),
      form(/\bmanages \|\| /g, ''),
      form(/sessionId !== null && (?=tokenPermissions === null)/g, ''),
      form(/(?<=sessionId !== null) && tokenPermissions === null/g, ''),
      form(/giver\.role === managingRole && /g, ''),
    ],
    tests: [tests.policy, tests.visible],
  },
  {
    kind: 'guard',
    files: ['src/app.ts'],
    forms: ['authz', 'credential', 'tenantRls', 'portalSession', 'appOrigins'].map((plugin) =>
      form(new RegExp(`await app\\.register\\(${plugin}\\b.*\\)\\n`, 'g'), ''),
    ),
    tests: [tests.matrix, tests.appOrigins],
  },
]

/** What every declared resource has. */
function kitHunts(): SourceHunt[] {
  const hunt = (
    file: string,
    pattern: RegExp,
    instead: string,
    ...chosen: string[]
  ): SourceHunt => ({
    kind: 'kit',
    files: [file],
    forms: [form(pattern, instead)],
    tests: chosen.length > 0 ? chosen : [tests.resources],
  })
  const [actions, before] = ['src/rows/actions.ts', 'src/rows/before-change.ts']
  const [events, writes, lists] = [
    'src/rows/own-events.ts',
    'src/rows/writes.ts',
    'src/rows/lists.ts',
  ]
  const [routes, derived] = ['routes/api/resources/rows.ts', 'src/resources/kit/derived.ts']
  return [
    hunt('src/rows/table.ts', /\$\{seenOf\(resource\)\}/g, '', tests.visible),
    hunt('src/resources/kit/sql.ts', /AS RESTRICTIVE(?=.n {2}USING)/g, '', tests.visible),
    hunt('src/resources/kit/visible.ts', /'session', (?='token')/g, '', tests.visible),
    hunt('src/resources/kit/visible.ts', /, 'order'/g, '', tests.visible),
    hunt('src/resources/kit/visible.ts', / AND o\.user_id = \$\{user\}/g, '', tests.visible),
    hunt(
      'src/resources/kit/visible.ts',
      /u\.subscription_cancels_at <= now\(\)/g,
      'false',
      tests.visible,
    ),
    hunt('src/resources/kit/visible.ts', /CASE \$\{kind\} .* END(?=`)/g, `'token'`, tests.visible),
    hunt(
      'src/access/policy.ts',
      /return sessionId === null \? 'token' : 'session'/g,
      `return 'session'`,
      tests.visible,
    ),
    hunt(before, /needsTeams\(unless, subject\) \? (?=findOwnTeams)/g, 'false ? ', tests.visible),
    hunt(
      'src/rows/refusals.ts',
      /if \(isRefusedByPolicy\(.*\)\) \{/g,
      'if (false) {',
      tests.visible,
    ),
    hunt(actions, /await requireRoom\(.*\)\n/g, '', tests.visible),
    hunt(before, /if \(action === 'create' && isCounted.*\n/g, '', tests.visible),
    hunt('src/rows/room.ts', /await lockUntilCommit\(.*\)\n/g, '', tests.visible),
    hunt('src/rows/room.ts', /used < most/g, 'used <= most', tests.visible),
    hunt('src/rows/room.ts', / && mayRead\(caller, one\)/g, '', tests.visible),
    hunt(events, /if \(tenantId !== null\) await publishOne\(.*\)\n/g, ''),
    hunt(
      actions,
      /(?<=action: 'update', )tenantId(?=, update)/g,
      'tenantId: act.caller.tenantId',
      tests.actions,
    ),
    hunt(before, /await check\(lock\)\n/g, ''),
    hunt(before, /effect === 'allow'/g, `effect !== 'never'`, tests.matrix),
    hunt(writes, /(?<=values\[key\]) \?\? one\.initial\?\.\(caller, now\)/g, ''),
    hunt(writes, /(?<=`\$\{column\(key\)\} = \$\{)parameterOf\(one, now\)/g, 'column(key)'),
    hunt(writes, /\$\{tagged\(tags\)\}/g, '', tests.shortWrites),
    hunt(
      'src/rows/row-json.ts',
      /WHEN \$\{value\} - \$\{known\} <> '\{\}' THEN \$\{value\}::text /g,
      '',
      tests.rowJson,
    ),
    hunt(
      lists,
      /Prisma\.sql`ASC`, Prisma\.sql`>`/g,
      'Prisma.sql`DESC`, Prisma.sql`>`',
      tests.lists,
    ),
    hunt('src/rows/seen.ts', /tokenPermissions === undefined \? \[\] : /g, '', tests.seen),
    hunt('src/rows/seen.ts', /(?<=return )guarded\.filter\(.*\)\n/g, '[]\n', tests.seen),
    hunt('src/rows/seen.ts', /if \(refused\.length === 0\) return/g, 'return', tests.seen),
    hunt('src/rows/table.ts', /permission === undefined/g, 'true', tests.rowJson),
    hunt('src/resources/hidden-columns.ts', /!isForManager/g, 'false', tests.hiddenColumns),
    hunt(routes, /idempotencyKey: true/g, 'idempotencyKey: false'),
    hunt(
      routes,
      /additionalProperties: false/g,
      'additionalProperties: true',
      tests.resources,
      tests.visible,
      tests.archive,
    ),
    // Keys between rows of a tenant, people who are members, values that others are computed from, actions of one's own.
    hunt(
      'src/resources/kit/links.ts',
      /(?<=const scoped = )scopedColumnsOf\(resource\)(?=\n {2}const foreignKey)/g,
      '[]',
      tests.appTables,
    ),
    hunt('src/resources/kit/sql.ts', / AND m\.user_id = NEW\.\$\{column\}/g, '', tests.fieldKinds),
    hunt(
      'src/resources/kit/faults.ts',
      /permission !== undefined && permission !== fields\[key\]\?\.permission/g,
      'false',
      tests.define,
    ),
    hunt('src/resources/kit/faults.ts', /written\.includes\(key\) \|\| /g, '', tests.define),
    hunt(
      derived,
      /(?<=feature === undefined \? \[plan\]\.flat\(\) : )plansWith\(.*\)/g,
      '[]',
      tests.visible,
    ),
    hunt(
      'src/rows/routed-actions.ts',
      /(?<=rule: \{ resource: resource\.name, action: )name/g,
      `'read'`,
      tests.small,
    ),
    hunt(
      'src/rows/own-actions.ts',
      /refuseUnseen\(resource, caller, body\)\n/g,
      '',
      'test/rows/seen.test.ts',
    ),
    hunt(derived, /token \?\? permission/g, 'permission', tests.rules),
    hunt(derived, /forServices: resource\.forServices/g, 'forServices: true', tests.rules),
  ]
}

/** The hooks of an app: whatever has happened adds or runs its hook, in the transaction of what has happened. */
function appHookHunts(): SourceHunt[] {
  const hunt = (file: string, pattern: RegExp, instead: string): SourceHunt => ({
    kind: 'app hook',
    files: [file],
    forms: [form(pattern, instead)],
    tests: [tests.visible],
  })
  const adding = [
    ...['erasure/erase', 'members/leave', 'members/members', 'members/own-invitations'],
    ...['members/tenants', 'sign-in/role-map', 'sign-in/users'],
  ]
  return [
    ...adding.map((file) => hunt(`src/auth/${file}.ts`, /await addHook\(.*\)\n/g, '{}\n')),
    hunt('src/billing/process.ts', /await hook\.run\(tx, payee\.tenantId, fact\)\n/g, ''),
    hunt('src/billing/process.ts', /if \(isFirst\) (?=await first\(\))/g, ''),
    hunt('src/billing/process.ts', /(?<=if \(isFirst\) )await (?=first\(\))/g, 'void '),
    hunt('src/billing/process.ts', /, \(\) => hook\.run\(tx, payee \?\? null\)/g, ''),
    hunt('src/queue/app/hooks.ts', /one\.isHook === true && /g, 'one.isHook !== true && '),
  ]
}

/** One snapshot per read, one event of an object at a time, room beside endpoints that hang. */
function queueHunts(): SourceHunt[] {
  const hunt = (file: string, pattern: RegExp, instead: string, test: string): SourceHunt => ({
    kind: 'queue',
    files: [file],
    forms: [form(pattern, instead)],
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
    hunt('src/webhooks/client/address-limit.ts', /free > own/g, 'true', tests.addressLimit),
    hunt('src/webhooks/delivery/dispatch.ts', /metrics\.postponed\.inc.*\n/g, '', tests.ownFaults),
    hunt('src/webhooks/history/replays.ts', /open\.length > 1/g, 'false', tests.turns),
    hunt('src/webhooks/history/replays.ts', /, singletonKey: tenantId/g, '', tests.turns),
    hunt('src/auth/provider-tokens/revoke.ts', /if \(fault === lacksKey\) .*\n/g, '', tests.revoke),
    hunt('src/queue/job-table.ts', / && response\.affected === 1/g, '', tests.process),
    hunt('src/queue/job-table.ts', / AND retry_count = \$\{retryCount\}/g, '', tests.jobTable),
    hunt('src/queue/due-jobs.ts', /if \(.*\) takeover\.distrust\(\)\n/g, '', tests.dueJobs),
    hunt('src/billing/forward.ts', /if \(waiting > 0\) .*\n/g, '', tests.forward),
    hunt('src/billing/forward.ts', /, forwardAttempts: attempts/g, '', tests.forward),
    hunt('src/queue/consumer.ts', /room >> 1/g, 'room', tests.consumer),
    hunt(
      'src/queue/takeover.ts',
      /if \(performance\.now\(\) < trustedFrom\) return\n/g,
      '',
      tests.takeover,
    ),
    hunt(
      'src/webhooks/health/state.ts',
      /\{ failingSince, (?=exhaustedDeliveries \}: EndpointState, now)/g,
      '{ lastSuccessAt: failingSince, ',
      tests.health,
    ),
  ]
}

/**
 * Every mutant of the tree at `root`, and the forms and files in which nothing is found any more: they have changed, and
 * the hunt has to follow.
 */
export async function findSourceMutants(
  root: string,
): Promise<{ mutants: Mutant[]; vanished: string[] }> {
  const ready = await Promise.all(
    hunts.map(async (hunt) => ({
      ...hunt,
      name: hunt.kind,
      groups: await Promise.all(hunt.files.map((files) => groupOf(root, files))),
    })),
  )
  const { found, vanished } = carryOut(ready)
  const mutants = found.flatMap(({ hunt, finds }) =>
    finds.map(({ name: path, text, cut }) => ({
      name: `${hunt.kind} ${path}:${cut.name}`,
      source: { path, text: applyCut(text, cut) },
      tests: hunt.tests,
      routes: hunt.routes,
    })),
  )
  return { mutants: mutants.toSorted((a, b) => (a.name < b.name ? -1 : 1)), vanished }
}

async function groupOf(root: string, files: string) {
  const texts: { name: string; text: string }[] = []
  for await (const name of glob(files, { cwd: root })) {
    texts.push({ name, text: await readFile(join(root, name), 'utf8') })
  }
  return { name: files, texts }
}
