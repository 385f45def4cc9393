import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { createFolder, createTeam } from '#test/support/callers/chain.ts'
import { createReplayOf } from '#test/support/callers/webhook-admin.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** An admin with something of every kind that a page can remove. */
async function setUp(t: Test) {
  const test = await build(t)
  const { database } = test
  const admin = await createUser(database, { role: 'admin', email: 'ada@acme.example' })
  const { tenantId, userId } = admin
  await database.admin.query('UPDATE users SET email_verified = true WHERE id = $1', [userId])
  for (const subject of ['first', 'second']) await addIdentity(test, userId, subject)
  const teamId = await createTeam(database, tenantId, [userId])
  const folderId = await createFolder(database, tenantId, teamId)
  const inviter = await createUser(database, { role: 'admin' })
  const invite = async (tenant: string, email: string, by: number) => {
    const { rows } = await database.admin.query(
      `INSERT INTO invitations (tenant_id, email, role, invited_by, expires_at)
       VALUES ($1, $2, 'viewer', $3, now() + interval '1 day') RETURNING id`,
      [tenant, email, by],
    )
    return rows[0].id
  }
  await invite(tenantId, 'guest@elsewhere.example', userId)
  const ownId = await invite(inviter.tenantId, 'ada@acme.example', inviter.userId)
  const endpointId = await createEndpoint(database, admin, { url: 'https://8.8.8.8/hook' })
  const replay = `/app/webhooks/${endpointId}/replays/${await createReplayOf(database, admin, endpointId)}`
  const steps = [
    {
      page: '/app/teams',
      action: `/app/teams/${teamId}/members/remove`,
      left: 'SELECT FROM team_members',
    },
    { page: '/app/teams', action: `/app/folders/${folderId}/delete`, left: 'SELECT FROM folders' },
    {
      page: '/app/tenant',
      action: '/app/tenant/invitations/withdraw',
      left: `SELECT FROM invitations WHERE email = 'guest@elsewhere.example'`,
    },
    {
      page: '/app/account',
      action: `/invitations/${ownId}/decline`,
      left: `SELECT FROM invitations WHERE email = 'ada@acme.example' AND declined_at IS NULL`,
    },
    {
      page: '/app/account',
      action: '/app/account/sessions/end-others',
      left: 'SELECT FROM sessions OFFSET 1',
    },
    {
      page: '/app/account',
      action: '/app/account/identities/remove',
      left: `SELECT FROM oauth_identities WHERE provider_user_id = 'first'`,
    },
    {
      page: replay,
      action: `${replay}/cancel`,
      left: 'SELECT FROM endpoint_replays WHERE cancelled_at IS NULL',
    },
  ]
  await signIn(test, admin)
  const { cookie } = await signIn(test, admin)
  const origin = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const open = async (javaScriptEnabled: boolean) => {
    const context = await browser.newContext({ baseURL: origin, javaScriptEnabled })
    await context.addCookies([{ name: 'sid', value: cookie.slice('sid='.length), url: origin }])
    return context.newPage()
  }
  const countOf = async (query: string) => (await database.admin.query(query)).rowCount
  return { steps, open, countOf }
}

/** The buttons and words of what cannot be undone that differ from others by their colour alone. */
function withoutSign(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`
    [...document.querySelectorAll('.button.danger, .confirm > summary')]
      .filter((one) => !getComputedStyle(one, '::before').content.startsWith('"!"'))
      .map((one) => one.textContent)`)
}

t.test('what is lost for good is named and confirmed first, without scripts too', async (t) => {
  const { steps, open, countOf } = await setUp(t)
  const page = await open(false)
  const scripted = await open(true)
  for (const { page: path, action, left } of steps) {
    await scripted.goto(path)
    await scripted.evaluate(
      'document.querySelectorAll("details").forEach((one) => { one.open = true })',
    )
    t.same(await seriousFindings(scripted), [], `${action} with every confirmation open`)
    t.same(await withoutSign(scripted), [], 'each has a sign beside its colour')

    await page.goto(path)
    const form = page.locator(`form[action="${action}"]`)
    const first = page.locator('details.confirm', { has: form }).first()
    await first.locator('summary').press('Enter')
    await first.locator('form p').waitFor()
    t.equal(await countOf(left), 1, `${action}: nothing is lost by the first press`)
    const answered = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.url().endsWith(action),
    )
    await first.getByRole('button').press('Enter')
    t.equal((await answered).status(), 303, action)
    t.equal(await countOf(left), 0, `${action}: the second press does it`)
  }
})
