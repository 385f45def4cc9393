import { createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import type { TestApp } from '#test/support/app/app.ts'

const form = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }

/** A signed-in user who opens pages and submits forms. */
export async function visitor(test: TestApp, user: TestUser) {
  const { cookie } = await signIn(test, user)
  const headers = { ...form, cookie }
  const send = (url: string, fields: Record<string, string> | string[][] = {}, more = {}) =>
    test.app.inject({
      method: 'POST',
      url,
      headers: { ...headers, ...more },
      payload: new URLSearchParams(fields).toString(),
    })
  return {
    cookie,
    open: (url: string) => test.app.inject({ url, headers }),
    send,
    /** Sends a form that counts once, as a newly rendered page has it. */
    submit: (url: string, fields: Record<string, string> = {}) =>
      send(url, { ...fields, submission: crypto.randomUUID() }),
  }
}

/** The admins of two new tenants and a viewer of the first. */
export async function webhookVisitors(test: TestApp) {
  const one = await createUser(test.database, { role: 'admin' })
  const other = await createUser(test.database, { role: 'admin' })
  const viewer = await createUser(test.database, { tenantId: one.tenantId })
  return {
    test,
    one,
    other,
    admin: await visitor(test, one),
    stranger: await visitor(test, other),
    viewer: await visitor(test, viewer),
  }
}
