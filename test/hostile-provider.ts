import { createHash, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Clock } from '#src/clock.ts'
import {
  corruptSignature,
  type Json,
  makeKey,
  type SigningKey,
  signToken,
} from './hostile-tokens.ts'
import { type RecordedRequest, startReceiver } from './receiver.ts'

/** Every way in which the provider can do wrong; what is not set is done honestly. */
export type Faults = {
  /** Changes of the id_token's claims; `undefined` drops one. */
  claims: Json
  /** Changes of the id_token's header; `undefined` drops a member. */
  header: Json
  /** Replaces the id_token's payload altogether. */
  payload: unknown
  signingKey: SigningKey
  corruptSignature: boolean
  /** Last word on the id_token. */
  idToken: (token: string) => unknown
  /** Changes of the token response; `undefined` drops a member. */
  tokenBody: Json
  token: Answer
  metadata: Json
  metadataAnswer: Answer
  jwks: { keys: unknown }
  jwksAnswer: Answer
  /** Runs right before an id_token is signed. */
  beforeSigning: () => void | Promise<void>
  /** The authorization response: `undefined` drops a parameter. */
  callback: Record<string, string | undefined>
  /** Client secrets that are accepted. */
  secrets: readonly string[]
  /** 401 with WWW-Authenticate for a wrong secret, where it is otherwise 400. */
  challenge: boolean
}

/**
 * An answer other than the honest one, whose body is sent where none is given; `hang` never ends
 * it, `endless` never stops it, `reset` breaks the connection.
 */
export type Answer =
  | { status?: number; headers?: Record<string, string>; body?: string }
  | 'hang'
  | 'endless'
  | 'reset'

export type Grant = { clientId: string; redirectUri: string; nonce: string; challenge: string }
export type Calls = { metadata: number; jwks: number; token: number; other: number }

export type HostileProvider = Awaited<ReturnType<typeof startHostileProvider>>

/** An OpenID Provider on loopback with real keys and tokens, and a switch per fault. */
export async function startHostileProvider(options: {
  clock: Clock
  keys: readonly [SigningKey, ...SigningKey[]]
  secret: string
}) {
  const calls: Calls = { metadata: 0, jwks: 0, token: 0, other: 0 }
  const grants = new Map<string, Grant>()
  const op: { fault: Partial<Faults>; keys: SigningKey[] } = { fault: {}, keys: [...options.keys] }
  const receiver = await startReceiver(answer)
  const issuer = receiver.url

  function answer(request: RecordedRequest, response: ServerResponse): unknown {
    const path = request.url.split('?')[0]
    if (path === '/.well-known/openid-configuration') return answerMetadata(response)
    if (path?.startsWith('/jwks')) return answerKeys(response)
    if (path === '/token') return answerToken(request, response)
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
    if (!(op.fault.secrets ?? [options.secret]).includes(client.secret)) {
      const challenge = { 'www-authenticate': 'Basic realm="provider"' }
      const status = op.fault.challenge ? 401 : 400
      const headers = op.fault.challenge ? challenge : {}
      return send(response, { status, headers, body: '{"error":"invalid_client"}' }, {})
    }
    const code = form.get('code') ?? ''
    const grant = grants.get(code)
    if (grant === undefined || !keepsGrant(grant, client.id, form)) {
      return send(response, { status: 400, body: '{"error":"invalid_grant"}' }, {})
    }
    grants.delete(code)
    await op.fault.beforeSigning?.()
    return send(response, token, await tokenResponse(grant))
  }

  async function tokenResponse(grant: Grant): Promise<Json> {
    const [first] = options.keys
    const key = op.fault.signingKey ?? op.keys[0] ?? first
    const accessToken = `opaque-${randomBytes(16).toString('hex')}`
    const seconds = Math.floor(options.clock.now().getTime() / 1000)
    const honest = {
      iss: issuer,
      aud: grant.clientId,
      sub: 'subject-1',
      iat: seconds,
      exp: seconds + 300,
      nonce: grant.nonce,
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
    const payload = 'payload' in op.fault ? op.fault.payload : { ...honest, ...op.fault.claims }
    const signed = await signToken(header, payload, key, options.secret)
    const token = op.fault.corruptSignature ? corruptSignature(signed) : signed
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: 300,
      id_token: op.fault.idToken === undefined ? token : op.fault.idToken(token),
      ...op.fault.tokenBody,
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
    requests: receiver.requests,
    close: receiver.close,
    issueCode,
    /** The browser's way through the authorization endpoint: the callback's parameters. */
    approve(url: URL): URLSearchParams {
      const asked = (name: string) => url.searchParams.get(name) ?? ''
      const code = issueCode({
        clientId: asked('client_id'),
        redirectUri: asked('redirect_uri'),
        nonce: asked('nonce'),
        challenge: asked('code_challenge'),
      })
      const parameters = { code, state: asked('state'), ...op.fault.callback }
      const sent = Object.entries(parameters).filter(([, value]) => value !== undefined)
      return new URLSearchParams(sent.map(([name, value]) => [name, String(value)]))
    },
  })
}

/** A second key of the same kind under a new `kid`, as a rotation publishes it. */
export function rotatedKey(alg: 'RS256' | 'ES256'): Promise<SigningKey> {
  return makeKey(alg, `rotated-${randomBytes(4).toString('hex')}`)
}

function clientOf(request: RecordedRequest, form: URLSearchParams): { id: string; secret: string } {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1]
  if (basic === undefined) {
    return { id: form.get('client_id') ?? '', secret: form.get('client_secret') ?? '' }
  }
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':')
  const [name = '', password = ''] = [id, secret].map((text) =>
    decodeURIComponent(text.replaceAll('+', ' ')),
  )
  return { id: name, secret: password }
}

function keepsGrant(grant: Grant, clientId: string, form: URLSearchParams): boolean {
  const verifier = form.get('code_verifier') ?? ''
  return (
    form.get('grant_type') === 'authorization_code' &&
    clientId === grant.clientId &&
    form.get('redirect_uri') === grant.redirectUri &&
    createHash('sha256').update(verifier).digest('base64url') === grant.challenge
  )
}

function send(response: ServerResponse, answer: Answer | undefined, honest: unknown): unknown {
  if (answer === 'hang') return undefined
  if (answer === 'reset') return response.destroy()
  const json = { 'content-type': 'application/json' }
  if (answer === 'endless') return Readable.from(spaces()).pipe(response.writeHead(200, json))
  return response
    .writeHead(answer?.status ?? 200, { ...json, ...answer?.headers })
    .end(answer?.body ?? JSON.stringify(honest))
}

function* spaces(): Generator<string> {
  for (;;) yield ' '.repeat(65_536)
}
