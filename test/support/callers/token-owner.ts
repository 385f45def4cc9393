import { as, asText, createUser, signIn } from '#dev/testing/people.ts'
import type { TestApp } from '#test/support/app/app.ts'

/** A signed-in user, and a function that creates API tokens for them. */
export async function owner(test: TestApp, facts: Parameters<typeof createUser>[1] = {}) {
  const user = await createUser(test.database, facts)
  const { cookie } = await signIn(test, user)
  const send = as(test, { cookie })
  const make = async (body: object = {}) => {
    const answer = await send('POST', '/auth/tokens', { name: 'ci', permissions: null, ...body })
    const { id, token } = answer.json()
    return { id, token, answer, use: as(test, { authorization: `Bearer ${token}` }) }
  }
  return { user, cookie, send, sendText: asText(test, { cookie }), make }
}
