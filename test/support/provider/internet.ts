import { createHash, randomBytes } from 'node:crypto'
import type { Preset } from '#src/config/providers/presets.ts'
import { type Clock, systemClock } from '#src/runtime/clock.ts'
import { type Json, makeKey, signToken } from './hostile-tokens.ts'
import { publishedMetadata } from './published-metadata.ts'

/** A person at a provider, in the words of its id_token or API. */
export type Visitor = { sub: string; claims: Json }

export type Exchange = { url: string; form: URLSearchParams; headers: Record<string, string> }

type Grant = { challenge: string | null; nonce: string | null; visitor: Visitor }

const signingKey = await makeKey('RS256', 'published-1')

/**
 * Stands in for the sites of one provider: metadata as published, keys, token endpoint and API, each
 * at its real address. It answers a program whose `fetch` it replaces; nothing leaves the process.
 */
export function standInFor(preset: Preset, issuer: string, clock: Clock = systemClock) {
  const metadata = preset.oauth2 === undefined ? publishedMetadata(preset.name, issuer) : null
  const grants = new Map<string, Grant>()
  const accessTokens = new Map<string, Visitor>()
  const refreshTokens = new Map<string, Visitor>()
  const exchanges: Exchange[] = []
  const revoked: string[] = []
  const claimsOf = (visitor: Visitor, nonce: string | null, clientId: string) => {
    const now = Math.floor(clock.now().getTime() / 1000)
    const iss = String(metadata?.issuer ?? issuer).replace('{tenantid}', String(visitor.claims.tid))
    const sent = nonce === null ? {} : { nonce }
    return {
      iss,
      aud: clientId,
      sub: visitor.sub,
      iat: now,
      exp: now + 600,
      ...sent,
      ...visitor.claims,
    }
  }
  const tokenUrl = preset.oauth2?.tokenEndpoint ?? String(metadata?.token_endpoint)
  const revokeUrl = preset.oauth2?.revocationEndpoint ?? metadata?.revocation_endpoint

  const metadataUrl = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const described = preset.oauth2?.profile
  const sites = [
    ...[metadataUrl, metadata?.jwks_uri, tokenUrl, revokeUrl, metadata?.userinfo_endpoint],
    ...[described?.url, described?.emailsUrl],
  ]

  async function answer(url: string, init: RequestInit): Promise<Response> {
    if (url === metadataUrl) return Response.json(metadata)
    if (url === metadata?.jwks_uri) return Response.json({ keys: [signingKey.jwk, signingKey.jwk] })
    const headers = Object.fromEntries(new Headers(init.headers))
    const form = new URLSearchParams(String(init.body ?? ''))
    if (url === tokenUrl) return exchange({ url, form, headers })
    if (url === revokeUrl) {
      revoked.push(form.get('token') ?? '')
      return new Response(null, { status: 200 })
    }
    const visitor = accessTokens.get(String(headers.authorization).replace('Bearer ', ''))
    if (visitor === undefined) return Response.json({}, { status: 401 })
    if (url === metadata?.userinfo_endpoint) {
      return Response.json({ sub: visitor.sub, ...visitor.claims })
    }
    return profile(url, visitor)
  }

  async function exchange(sent: Exchange): Promise<Response> {
    exchanges.push(sent)
    const { form, headers } = sent
    const clientId = form.get('client_id') ?? basicUser(headers.authorization)
    if (form.get('grant_type') === 'refresh_token') {
      const visitor = refreshTokens.get(form.get('refresh_token') ?? '')
      if (visitor === undefined) return Response.json({ error: 'invalid_grant' }, { status: 400 })
      refreshTokens.delete(form.get('refresh_token') ?? '')
      return tokens(visitor, null, clientId)
    }
    const code = form.get('code') ?? ''
    const grant = grants.get(code)
    grants.delete(code)
    const verifier = form.get('code_verifier')
    const challenge = verifier && createHash('sha256').update(verifier).digest('base64url')
    if (grant === undefined || grant.challenge !== challenge) {
      return Response.json({ error: 'invalid_grant' }, { status: 400 })
    }
    return tokens(grant.visitor, grant.nonce, clientId)
  }

  async function tokens(visitor: Visitor, nonce: string | null, clientId: string) {
    const accessToken = `access-${randomBytes(9).toString('hex')}`
    const refreshToken = `refresh-${randomBytes(9).toString('hex')}`
    accessTokens.set(accessToken, visitor)
    refreshTokens.set(refreshToken, visitor)
    const header = { alg: 'RS256', kid: signingKey.kid }
    const claims = claimsOf(visitor, nonce, clientId)
    const id_token = await signToken(header, claims, signingKey, '')
    return Response.json({
      access_token: accessToken,
      token_type: 'bearer',
      expires_in: 0, // so that the next use refreshes
      refresh_token: refreshToken,
      ...(preset.oauth2 === undefined && { id_token }),
      ...(preset.name === 'twitch' && { scope: ['openid', 'user:read:email'] }),
    })
  }

  function profile(url: string, visitor: Visitor): Response {
    if (url === described?.emailsUrl) return Response.json(visitor.claims.emails)
    if (url !== described?.url) return new Response(null, { status: 404 })
    const { emails: _, ...members } = visitor.claims
    const body = { [described?.subject ?? 'id']: visitor.sub, ...members }
    const within = described?.within
    return Response.json(within === undefined ? body : { [within]: body })
  }

  return {
    exchanges,
    revoked,
    /** Whether the provider has an endpoint that revokes tokens. */
    revokes: revokeUrl !== undefined,
    knows: (url: string) => sites.includes(url),
    answer,
    /** Signs the visitor in as the authorization request asks; returns the parameters sent back. */
    approve(request: URL, visitor: Visitor): URLSearchParams {
      const code = `code-${randomBytes(9).toString('hex')}`
      const { searchParams: asked } = request
      const challenge = asked.get('code_challenge')
      grants.set(code, { challenge, nonce: asked.get('nonce'), visitor })
      return new URLSearchParams({ code, state: asked.get('state') ?? '' })
    },
  }
}

export type StandIn = ReturnType<typeof standInFor>

/** A `fetch` that reaches the stand-ins and nothing else. */
export function internetOf(standIns: readonly StandIn[]): typeof fetch {
  return async (input, init = {}) => {
    const url = String(input)
    const site = standIns.find(({ knows }) => knows(url))
    if (site === undefined) throw new Error(`${url} is not there`)
    return site.answer(url, init)
  }
}

function basicUser(authorization = ''): string {
  return Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':')[0] ?? ''
}
