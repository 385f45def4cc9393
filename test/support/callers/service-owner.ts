import { as, createUser, signIn } from '#dev/testing/people.ts'
import type { TestApp } from '#test/support/app/app.ts'

/** A signed-in admin, and a function that creates service tokens in their tenant. */
export async function serviceOwner(test: TestApp, facts: Parameters<typeof createUser>[1] = {}) {
  const user = await createUser(test.database, { role: 'admin', ...facts })
  const { cookie } = await signIn(test, user)
  const send = as(test, { cookie })
  const make = async (permissions: readonly string[] = ['post:read'], body: object = {}) => {
    const answer = await send('POST', '/service-tokens', { name: 'ci', permissions, ...body })
    const { id, token } = answer.json()
    return { id, token, answer, use: as(test, { authorization: `Bearer ${token}` }) }
  }
  return { user, cookie, send, make }
}
