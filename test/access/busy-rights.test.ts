import type { LightMyRequestResponse } from 'fastify'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { revoke } from '#src/commands/app/app-tokens.ts'
import { requestLockMs } from '#src/db/connections/pool-options.ts'
import { connect, credentialOf, idleSeconds } from '#test/db/credentials.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { appCaller } from '#test/support/callers/app-caller.ts'
import { cookieOf, linkOf, portalOwner, portalVisitor } from '#test/support/callers/portal.ts'
import { serviceOwner } from '#test/support/callers/service-owner.ts'
import { owner } from '#test/support/callers/token-owner.ts'

/*
 * Writes of one credential without a gap: each begins before the one before it ends, so there is always one
 * that holds the row, and PostgreSQL lets its lock pass a DELETE that waits. The right ends all the same. The
 * limits are those of production.
 */

/** Begins a write with the credential; its rows are empty once the credential has ended. */
type Enter = readonly [sql: string, ...values: unknown[]]

type Busy = {
  enter: Enter
  end(): Promise<Pick<LightMyRequestResponse, 'statusCode' | 'body'>>
  isLive(): Promise<boolean>
}

const accepts = async (answer: Promise<LightMyRequestResponse>) => (await answer).statusCode !== 401

function ofSession(cookieId: string): Enter {
  return ['SELECT FROM enter_session($1, $2, true)', credentialOf(cookieId), idleSeconds]
}

const kinds: Readonly<Record<string, (test: TestApp) => Promise<Busy>>> = {
  'a session signs out': async (test) => {
    const session = await signIn(test, await createUser(test.database))
    const send = as(test, session)
    return {
      enter: ofSession(session.cookieId),
      end: () => send('POST', '/auth/logout'),
      isLive: () => accepts(send('GET', '/me')),
    }
  },
  'another session ends it': async (test) => {
    const user = await createUser(test.database)
    const session = await signIn(test, user)
    const send = as(test, session)
    const [current] = (await send('GET', '/auth/sessions')).json().data
    const other = as(test, await signIn(test, user))
    return {
      enter: ofSession(session.cookieId),
      end: () => other('DELETE', `/auth/sessions/${current.id}`),
      isLive: () => accepts(send('GET', '/me')),
    }
  },
  'all other sessions end': async (test) => {
    const user = await createUser(test.database)
    const session = await signIn(test, user)
    const other = as(test, await signIn(test, user))
    return {
      enter: ofSession(session.cookieId),
      end: () => other('DELETE', '/auth/sessions'),
      isLive: () => accepts(as(test, session)('GET', '/me')),
    }
  },
  'an API token is deleted': async (test) => {
    const { send, make } = await owner(test)
    const { id, token, use } = await make()
    return {
      enter: ['SELECT FROM enter_token($1, true)', credentialOf(token)],
      end: () => send('DELETE', `/auth/tokens/${id}`),
      isLive: () => accepts(use('GET', '/me')),
    }
  },
  'a service token is deleted': async (test) => {
    const { send, make } = await serviceOwner(test)
    const { id, token, use } = await make()
    return {
      enter: ['SELECT FROM enter_service($1, true)', credentialOf(token)],
      end: () => send('DELETE', `/service-tokens/${id}`),
      isLive: () => accepts(use('GET', '/posts')),
    }
  },
  'an app token is deleted': async (test) => {
    const user = await createUser(test.database, { role: 'admin' })
    await addIdentity(test, user.userId, 'operator')
    const [app, send] = [await appCaller(test), as(test, await signIn(test, user))]
    return {
      enter: ['SELECT FROM enter_app_token($1, $2, true)', credentialOf(app.token), user.tenantId],
      end: () => send('DELETE', `/app-tokens/${app.id}`),
      isLive: () => accepts(app.use('GET', `/tenants/${user.tenantId}/members`)),
    }
  },
  'an app token is revoked by command': async (test) => {
    const [user, app] = [await createUser(test.database), await appCaller(test)]
    return {
      enter: ['SELECT FROM enter_app_token($1, $2, true)', credentialOf(app.token), user.tenantId],
      async end() {
        await revoke({ DATABASE_OWNER_URL: test.database.ownerUrl }, app.id, {})
        return { statusCode: 200, body: '' }
      },
      isLive: () => accepts(app.use('GET', `/tenants/${user.tenantId}/members`)),
    }
  },
  'a portal session is ended by its app': async (test) => {
    const { user, app, openLink } = await portalOwner(test)
    const made = await app.use('POST', `/tenants/${user.tenantId}/portal-links`)
    const value = cookieOf(await openLink(linkOf(made)))
    const [secret = ''] = value.split('.')
    return {
      enter: ['SELECT FROM enter_portal_session($1, true)', credentialOf(secret)],
      end: () => app.use('DELETE', `/tenants/${user.tenantId}/portal-links/${made.json().id}`),
      isLive: () => accepts(portalVisitor(test, value).open('/portal/webhooks')),
    }
  },
}

/**
 * Begins writes, each before the one before it is committed, until the right has ended. A refused one is as
 * long.
 */
async function endWhileBusy(t: Test, test: TestApp, { enter, end }: Busy) {
  const { url } = test.database
  let [open, next] = [await connect(t, url), await connect(t, url)]
  const counts = { entered: 0, refused: 0 }
  const begin = async (client: pg.Client) => {
    const [sql, ...values] = enter
    await client.query('BEGIN')
    counts[(await client.query(sql, values)).rowCount === 0 ? 'refused' : 'entered'] += 1
  }
  await begin(open)
  let isAnswered = false
  const answering = end().finally(() => {
    isAnswered = true
  })
  while (!isAnswered) {
    await begin(next)
    await open.query('COMMIT')
    ;[open, next] = [next, open]
  }
  await open.query('COMMIT')
  return { answer: await answering, counts }
}

t.test('a right ends although its writes leave no gap', async (t) => {
  const env = { OPERATORS: 'demo:operator' }
  const test = await build(t, env, { limits: { lockMs: requestLockMs } })
  for (const [name, prepare] of Object.entries(kinds)) {
    await t.test(name, async (t) => {
      const busy = await prepare(test)
      t.ok(await busy.isLive(), 'the credential is accepted')
      const { answer, counts } = await endWhileBusy(t, test, busy)
      t.match(answer.statusCode, /^20[04]$/, answer.body)
      t.ok(
        counts.entered > 1,
        `${counts.entered} writes entered, then ${counts.refused} were refused`,
      )
      t.notOk(await busy.isLive(), 'the credential is refused')
    })
  }
})
