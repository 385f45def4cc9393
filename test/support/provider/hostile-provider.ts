import { createHash, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type RecordedRequest, startReceiver } from '#dev/testing/receiver.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { type Answer, clientOf, send } from './hostile-answers.ts'
import {
  bearerOf,
  createRecords,
  type Grant,
  type GrantFaults,
  keepsGrant,
  refuse,
} from './hostile-grants.ts'
import { corruptSignature, type Json, type SigningKey, signToken } from './hostile-tokens.ts'

/** All faults of the provider; without one it behaves correctly. */
export type Faults = GrantFaults & {
  /** Changes of the id_token's claims; `undefined` removes one. */
  claims: Json
  /** Changes of the id_token's header; `undefined` removes a member. */
  header: Json
  /** Replaces the id_token's whole payload. */
  payload: unknown
  signingKey: SigningKey
  corruptSignature: boolean
  /** Changes the finished id_token. */
  idToken: (token: string) => unknown
  /** Changes of the token response; `undefined` removes a member. */
  tokenBody: Json
  token: Answer
  metadata: Json
  metadataAnswer: Answer
  jwks: { keys: unknown }
  jwksAnswer: Answer
  /** Runs right before an id_token is signed. */
  beforeSigning: () => void | Promise<void>
  /** Changes of the authorization response; `undefined` removes a parameter. */
  callback: Record<string, string | undefined>
  /** Client secrets that are accepted. */
  secrets: readonly string[]
  /** 401 with WWW-Authenticate for a wrong secret, instead of 400. */
  challenge: boolean
}

export type Calls = {
  metadata: number
  jwks: number
  token: number
  userinfo: number
  revoke: number
  other: number
}

export type HostileProvider = Awaited<ReturnType<typeof startHostileProvider>>

/** An OpenID Provider on loopback with real keys and tokens and configurable faults. */
export async function startHostileProvider(options: {
  clock: Clock
  keys: readonly [SigningKey, ...SigningKey[]]
  secret: string
}) {
  const calls: Calls = { metadata: 0, jwks: 0, token: 0, userinfo: 0, revoke: 0, other: 0 }
  const grants = new Map<string, Grant>()
  const op: { fault: Partial<Faults>; keys: SigningKey[] } = { fault: {}, keys: [...options.keys] }
  const receiver = await startReceiver(answer)
  const issuer = receiver.url
  const records = Object.assign(createRecords(issuer), { now: () => options.clock.now() })

  function answer(request: RecordedRequest, response: ServerResponse): unknown {
    const path = request.url.split('?')[0]
    if (path === '/.well-known/openid-configuration') return answerMetadata(response)
    if (path?.startsWith('/jwks')) return answerKeys(response)
    if (path === '/token') return answerToken(request, response)
    if (path === '/userinfo') return answerUserinfo(request, response)
    if (path === '/revoke') return answerRevocation(request, response)
    calls.other += 1
    return response.writeHead(404).end()
  }

  function answerMetadata(response: ServerResponse): unknown {
    calls.metadata += 1
    const metadata = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      userinfo_endpoint: `${issuer}/userinfo`,
      revocation_endpoint: `${issuer}/revoke`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'HS256', 'none'],
    }
    return send(response, op.fault.metadataAnswer, { ...metadata, ...op.fault.metadata })
  }

  function answerKeys(response: ServerResponse): unknown {
    calls.jwks += 1
    const keys = op.keys.map(({ jwk }) => jwk)
    return send(response, op.fault.jwksAnswer, op.fault.jwks ?? { keys })
  }

  async function answerToken(request: RecordedRequest, response: ServerResponse): Promise<unknown> {
    calls.token += 1
    const { token } = op.fault
    if (typeof token === 'string' || token?.body !== undefined) return send(response, token, {})
    const form = new URLSearchParams(request.body.toString())
    const client = clientOf(request, form)
    if (!(await isClient(client, form))) {
      const challenge = { 'www-authenticate': 'Basic realm="provider"' }
      const status = op.fault.challenge ? 401 : 400
      const headers = op.fault.challenge ? challenge : {}
      return send(response, { status, headers, body: '{"error":"invalid_client"}' }, {})
    }
    if (form.get('grant_type') === 'refresh_token') {
      return answerRefresh(client.id, form.get('refresh_token') ?? '', response)
    }
    const code = form.get('code') ?? ''
    const grant = grants.get(code)
    if (grant === undefined || !keepsGrant(grant, client.id, form)) {
      return send(response, { status: 400, body: '{"error":"invalid_grant"}' }, {})
    }
    grants.delete(code)
    await op.fault.beforeSigning?.()
    const refreshed = op.fault.offline ? { refresh_token: records.issue(client.id) } : {}
    const honest = await tokenResponse(grant, { ...op.fault.claims })
    return send(response, token, { ...honest, ...refreshed, ...op.fault.tokenBody })
  }

  function isClient(client: { id: string; secret: string }, form: URLSearchParams) {
    const assertion = form.get('client_assertion')
    if (assertion !== null) return records.accepts(assertion, client.id)
    return (op.fault.secrets ?? [options.secret]).includes(client.secret)
  }

  async function answerRefresh(clientId: string, token: string, response: ServerResponse) {
    const { refresh, keepsRefreshToken, refreshClaims, refreshBody } = op.fault
    await records.duringRefresh?.()
    if (refresh?.when === 'before') return send(response, refresh.answer, {})
    if (!records.redeem(token, clientId, !keepsRefreshToken)) {
      return refuse(response, 400, 'invalid_grant')
    }
    const grant = { clientId, redirectUri: '', nonce: '', challenge: '', maxAge: false }
    const honest = await tokenResponse(grant, { nonce: undefined, ...refreshClaims })
    const body = {
      ...honest,
      id_token: refreshClaims === undefined ? undefined : honest.id_token,
      refresh_token: keepsRefreshToken ? undefined : records.issue(clientId),
      ...refreshBody,
    }
    return send(response, refresh?.answer, body)
  }

  async function answerUserinfo(request: RecordedRequest, response: ServerResponse) {
    calls.userinfo += 1
    const bearer = bearerOf(request)
    if (request.method !== 'GET' || request.body.length > 0 || request.url.includes('?')) {
      return refuse(response, 400, 'invalid_request')
    }
    if (bearer === null || !records.accessTokens.includes(bearer)) {
      return response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end()
    }
    const claims = { sub: 'subject-1', ...op.fault.userinfo }
    const { signedUserinfo, userinfoAnswer } = op.fault
    if (signedUserinfo === undefined) return send(response, userinfoAnswer, claims)
    const key = op.fault.signingKey ?? op.keys[0] ?? options.keys[0]
    const header = { alg: key.alg, kid: key.kid, ...op.fault.header }
    const payload = { iss: issuer, aud: 'gatehouse', ...claims, ...signedUserinfo }
    const signed = await signToken(header, payload, key, options.secret)
    const body = op.fault.corruptSignature ? corruptSignature(signed) : signed
    return send(response, { headers: { 'content-type': 'application/jwt' }, body }, {})
  }

  async function answerRevocation(request: RecordedRequest, response: ServerResponse) {
    calls.revoke += 1
    await records.duringRevocation?.()
    const form = new URLSearchParams(request.body.toString())
    if (!(await isClient(clientOf(request, form), form))) {
      return refuse(response, 401, 'invalid_client')
    }
    if (op.fault.revokeAnswer !== undefined) return send(response, op.fault.revokeAnswer, {})
    records.revoked.push(form.get('token') ?? '')
    return response.writeHead(200).end()
  }

  async function tokenResponse(grant: Grant, changes: Json): Promise<Json> {
    const [first] = options.keys
    const key = op.fault.signingKey ?? op.keys[0] ?? first
    const accessToken = `opaque-${randomBytes(16).toString('hex')}`
    records.accessTokens.push(accessToken)
    const seconds = Math.floor(options.clock.now().getTime() / 1000)
    const honest = {
      iss: issuer,
      aud: grant.clientId,
      sub: 'subject-1',
      iat: seconds,
      exp: seconds + 300,
      nonce: grant.nonce,
      ...(grant.maxAge && { auth_time: seconds }),
      at_hash: createHash('sha256')
        .update(accessToken)
        .digest()
        .subarray(0, 16)
        .toString('base64url'),
      email: 'ada@example.com',
      email_verified: true,
      name: 'Ada',
    }
    const header = { alg: key.alg, kid: key.kid, ...op.fault.header }
    const payload = 'payload' in op.fault ? op.fault.payload : { ...honest, ...changes }
    const signed = await signToken(header, payload, key, options.secret)
    const token = op.fault.corruptSignature ? corruptSignature(signed) : signed
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: 300,
      id_token: op.fault.idToken === undefined ? token : op.fault.idToken(token),
    }
  }

  function issueCode(grant: Grant): string {
    const code = `grant_${randomBytes(16).toString('hex')}`
    grants.set(code, grant)
    return code
  }

  return Object.assign(op, {
    issuer,
    calls,
    records,
    requests: receiver.requests,
    close: receiver.close,
    issueCode,
    /** Authorizes a request as the user would; returns the callback's parameters. */
    approve(url: URL): URLSearchParams {
      const asked = (name: string) => url.searchParams.get(name) ?? ''
      const code = issueCode({
        clientId: asked('client_id'),
        redirectUri: asked('redirect_uri'),
        nonce: asked('nonce'),
        challenge: asked('code_challenge'),
        maxAge: url.searchParams.has('max_age'),
      })
      const parameters = { code, state: asked('state'), ...op.fault.callback }
      const sent = Object.entries(parameters).filter(([, value]) => value !== undefined)
      return new URLSearchParams(sent.map(([name, value]) => [name, String(value)]))
    },
  })
}
