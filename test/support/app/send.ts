import type { LightMyRequestResponse } from 'fastify'
import { signIn, type TestUser } from '#dev/testing/people.ts'
import type { TestApp } from './app.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
export type Send = (method: Method, url: string, body?: unknown) => Promise<LightMyRequestResponse>

/** Sends requests in a new session of the user, or with the given headers. */
export async function senderOf(
  test: TestApp,
  from: TestUser | { readonly authorization: string },
): Promise<Send> {
  const identity = 'authorization' in from ? from : { cookie: (await signIn(test, from)).cookie }
  return (method, url, body) =>
    test.app.inject({
      method,
      url,
      headers: { ...identity, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
}

/** A response without the parts that differ between requests. */
export function comparable(response: LightMyRequestResponse): unknown {
  const { date, 'x-request-id': id, ...headers } = response.headers
  return { status: response.statusCode, headers, body: response.body.replaceAll(String(id), 'id') }
}
