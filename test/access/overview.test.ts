import { readFile } from 'node:fs/promises'
import t from 'tap'
import { collectRoutes } from '#dev/testing/access/collected-routes.ts'
import type { RouteRow } from '#dev/testing/access/route-row.ts'
import { createUser, signIn } from '#dev/testing/people.ts'
import { accessDocument, accessOverview } from '#src/access/overview.ts'
import { policy } from '#src/access/policy.ts'
import { roles as ownRoles } from '#src/access/roles.ts'
import { appPermissions, roles, rules, servicePermissions } from '#test/access/matrix/contract.ts'
import { entriesOf, isWhole } from '#test/access/matrix/entries.ts'
import { reachOf } from '#test/access/matrix/expected.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'

const names = Object.keys(roles)

/** The roles that the contract allows; none for operator rules and those of the app. */
function rolesFor(name: string): string[] {
  const { permission, reach } = rules[name] ?? { reach: 'operator' }
  if (reach === 'operator' || reach === 'app') return []
  return names.filter((role) => permission === undefined || roles[role]?.includes(permission))
}

t.test('docs/access.md is generated from the policy (npm run generate)', async (t) => {
  const document = await readFile(new URL('../../docs/access.md', import.meta.url), 'utf8')
  t.equal(document, accessDocument(accessOverview()), 'as npm run generate writes it')
})

t.test('the overview has every rule, with the roles and conditions of the contract', async (t) => {
  const rows = accessOverview()
  t.same(
    rows.map(({ resource, action }) => `${resource}:${action}`),
    policy.map(({ resource, action }) => `${resource}:${action}`),
  )
  t.same(ownRoles, names)
  for (const { resource, action, roles: those, ...row } of rows) {
    const name = `${resource}:${action}`
    const { conditions, tokenPermission, forApp } = row
    t.same(those, rolesFor(name), name)
    t.equal(conditions.length, rules[name]?.attribute ? 2 : 0, name)
    t.equal(tokenPermission, rules[name]?.token ?? null, name)
    t.equal(forApp !== false, appPermissions.includes(name), name)
  }
})

t.test('the page is for signed-in users and marks their role', async (t) => {
  const test = await build(t)
  const url = '/app/access'
  const headers = { accept: 'text/html' }
  const anonymous = await test.app.inject({ url, headers })
  t.equal(anonymous.statusCode, 302)
  t.equal(anonymous.headers.location, '/auth/login?return_to=%2Fapp%2Faccess')
  for (const role of names) {
    const { cookie } = await signIn(test, await createUser(test.database, { role }))
    const page = await test.app.inject({ url, headers: { ...headers, cookie } })
    t.equal(page.statusCode, 200)
    t.match(page.headers['content-security-policy'], /default-src 'none'/)
    t.equal(page.headers['cache-control'], 'no-store')
    t.match(page.body, `<th scope="col" class="role own">${role} (you)</th>`)
    t.equal(page.body.split('(you)').length, 2)
    t.equal(page.body.split('<th scope="row">').length, policy.length + 1, 'every rule')
    t.notMatch(page.body, /<script(?! src="\/assets\/)|style=/i)
  }
})

t.test('beside every rule stands whether the viewer may, and why', async (t) => {
  const test = await build(t)
  for (const [role, reason] of [
    ['admin', 'as admin'],
    ['editor', 'as editor'],
    ['viewer', 'needs editor or admin'],
  ] as const) {
    const { cookie } = await signIn(test, await createUser(test.database, { role }))
    const headers = { accept: 'text/html', cookie }
    const { body } = await test.app.inject({ url: '/app/access', headers })
    const at = policy.findIndex((rule) => rule.resource === 'post' && rule.action === 'create')
    const row = body.split('<tr>').slice(2)[at] ?? ''
    const own = /<td class="own">.*?<\/td>/s.exec(row)?.[0] ?? ''
    t.match(own, `<span class="quiet">${reason}</span>`, role)
    t.equal(own.includes('class="allowed"'), role !== 'viewer', role)
    t.match(body, '<span class="quiet">operators only</span>', 'of a rule for operators')
    t.match(body, '<span class="quiet">your own</span>', 'of a rule for everybody')
  }
})

t.test('the page shows an operator what operators may do', async (t) => {
  const test = await build(t, { OPERATORS: 'demo:olga' })
  const user = await createUser(test.database, { role: 'viewer' })
  await addIdentity(test, user.userId, 'olga')
  const { cookie } = await signIn(test, user)
  const headers = { accept: 'text/html', cookie }
  const { body } = await test.app.inject({ url: '/app/access', headers })
  t.match(body, '<th scope="col" class="role own">operator (you)</th>')
  const rows = body.split('<tr>').slice(2)
  t.equal(rows.length, policy.length)
  for (const [index, { resource, action, scope }] of policy.entries()) {
    const row = rows[index] ?? ''
    t.match(row, `<th scope="row">${action} `)
    const last = row.split('<td').at(-1) ?? ''
    t.match(last, 'class="role own"')
    const isAllowed = last.includes('class="allowed"')
    t.equal(isAllowed, scope === 'operator', `${resource}:${action}`)
  }
})

t.test('the OpenAPI document states the access rule of each operation', async (t) => {
  const { built, routes } = await collectRoutes(() => build(t))
  await built.app.ready()
  const { paths } = JSON.parse(JSON.stringify(built.app.swagger()))
  let described = 0
  for (const { name, method, url, row } of entriesOf(routes)) {
    const path = url.replaceAll(/:(\w+)/g, '{$1}')
    const operation = paths[path]?.[method.toLowerCase()]
    if (operation === undefined) continue
    described += 1
    t.same(operation.security, securityFor(row), name)
    const rule = rules[row.who]
    t.equal(operation['x-access']?.rule, rule && row.who, name)
    if (rule === undefined) continue
    if (reachOf(row) === 'app') {
      t.match(operation.description, `An app token needs \`${row.who}\``, name)
      t.strictSame(operation['x-access'].roles, [], name)
      t.match(operation['x-access'], { tokenPermission: null, servicePermission: null }, name)
      continue
    }
    t.same(operation['x-access'].roles, rolesFor(row.who), name)
    const forServices = servicePermissions.includes(row.who)
    t.equal(operation['x-access'].servicePermission, forServices ? row.who : null, name)
    if (rule.token) t.match(operation.description, `\`${rule.token}\``, name)
    if (rule.attribute) t.match(operation.description, /own department.*17:00 UTC/, name)
  }
  t.ok(described > (isWhole ? 20 : 0), `${described} operations`)
})

function securityFor(row: RouteRow): object[] {
  const { who } = row
  const session = { session: [] }
  const token = { token: [] }
  if (who === 'anyone' || who === 'signature') return []
  if (reachOf(row) === 'app') return [token]
  return rules[who]?.credential === undefined ? [session, token] : [session]
}
