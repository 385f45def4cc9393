import type { LightMyRequestResponse } from 'fastify'
import { as, createUser } from '#dev/testing/people.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { portalCookie } from '#src/http/headers/portal-cookie.ts'
import type { TestApp } from '#test/support/app/app.ts'
import { appCaller } from './app-caller.ts'

/** The app in a new tenant, and what it does there for its customers. */
export async function portalOwner(test: TestApp) {
  const user = await createUser(test.database, { role: 'admin' })
  const app = await appCaller(test)
  const makeLink = async (tenantId = user.tenantId) => {
    const answer = await app.use('POST', `/tenants/${tenantId}/portal-links`)
    if (answer.statusCode !== 201) throw new Error(answer.body)
    return linkOf(answer)
  }
  const openLink = (link: string, headers: Record<string, string> = {}) =>
    test.app.inject({
      method: 'POST',
      url: '/portal/open',
      headers: { accept: 'text/html', ...headers },
      payload: { link },
    })
  const enter = async (tenantId = user.tenantId) => {
    const opened = await openLink(await makeLink(tenantId))
    return portalVisitor(test, cookieOf(opened))
  }
  return { user, app, makeLink, openLink, enter }
}

/** The secret in the URL of a link. */
export function linkOf(answer: LightMyRequestResponse): string {
  return new URL(answer.json().url).searchParams.get('link') ?? ''
}

/** The value of the cookie that an opened link sets. */
export function cookieOf(answer: LightMyRequestResponse): string {
  const [first] = answer.cookies.filter(({ name }) => name === portalCookie)
  return first?.value ?? ''
}

/** Somebody in the portal: `send` adds the token of its forms. */
export function portalVisitor(test: Pick<TestApp, 'app'>, value: string) {
  const cookie = `${portalCookie}=${value}`
  const request = as(test, { cookie, accept: 'text/html' })
  const open = (url: string) => request('GET', url)
  const send = (url: string, fields: object = {}) =>
    request('POST', url, { ...fields, token: formTokenOf(value) })
  return { cookie, request, open, send }
}

/** The token of the forms in a session. @param value of its cookie */
export function formTokenOf(value: string): string {
  const [secret = ''] = value.split('.')
  return sha256(`form of the portal ${secret}`).toString('base64url')
}
