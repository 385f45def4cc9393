import type { Test } from 'tap'
import type { Further } from '#test/support/provider/sign-in-cases.ts'
import type { Journey } from '#test/support/provider/sign-in-journey.ts'

/** Every row that a sign-in can change, except the pending sign-in and the audit log. */
export async function rows({ database }: Journey): Promise<unknown> {
  const tables = ['users', 'oauth_identities', 'tenants', 'memberships', 'logout_tokens']
  const counts = tables.map(
    (name) => `(SELECT md5(string_agg(x::text, '|' ORDER BY x::text))
    FROM ${name} x) AS ${name}`,
  )
  const result = await database.admin.query(`SELECT ${counts.join(', ')},
    (SELECT md5(string_agg(id::text, '|' ORDER BY id)) FROM sessions) AS sessions`)
  return result.rows[0]
}

/** Checks that no row changed and that the provider received no calls except `further`. */
export async function checkNothingHappened(
  t: Test,
  journey: Journey,
  before: unknown,
  calls: Journey['op']['calls'],
  further: Further,
): Promise<void> {
  const { op } = journey
  t.strictSame(await rows(journey), before, 'no row changed')
  await fetch(`${op.issuer}/marker`) // all earlier requests have arrived before this one
  const made = { token: op.calls.token - calls.token, jwks: op.calls.jwks - calls.jwks }
  t.strictSame(made, further, 'no further call to the provider')
  t.equal(op.calls.other - calls.other, 1, 'no other call except this test’s marker')
}
