import { createHash, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { importJWK, type JWK, type JWTPayload, jwtVerify } from 'jose'
import type { Answer } from './hostile-answers.ts'
import type { Json } from './hostile-tokens.ts'
import type { RecordedRequest } from './receiver.ts'

/** What can go wrong after the sign-in: with refresh, userinfo and revocation. */
export type GrantFaults = {
  /** Gives refresh tokens at sign-in; left out, it gives none. */
  offline: boolean
  /** `after` the token was rotated, `before` it was looked at. */
  refresh: { when: 'before' | 'after'; answer: Answer }
  /** Changes of the refresh answer; `undefined` drops a member. */
  refreshBody: Json
  /** Puts an id_token with these changes into the refresh answer. */
  refreshClaims: Json
  /** The refresh token stays as it is, and the answer names none. */
  keepsRefreshToken: boolean
  /** Changes of the userinfo claims; `undefined` drops one. */
  userinfo: Json
  userinfoAnswer: Answer
  /** The answer is a JWT with these further changes. */
  signedUserinfo: Json
  revokeAnswer: Answer
}

export type Grant = { clientId: string; redirectUri: string; nonce: string; challenge: string }
type Owner = { clientId: string; spent: boolean }

/** The provider's memory of refresh tokens and assertions, and everything it was shown. */
export function createGrantDesk(issuer: string) {
  const owners = new Map<string, Owner>()
  const assertions = new Set<string>()

  return {
    /** Refresh tokens in the order they came to the token endpoint. */
    presented: [] as string[],
    /** Tokens in the order they came to the revocation endpoint. */
    revoked: [] as string[],
    /** Access tokens given, oldest first. */
    accessTokens: [] as string[],
    /** Refresh tokens given, oldest first. */
    refreshTokens: [] as string[],
    /** Public keys of clients that sign assertions. */
    clientKeys: [] as JWK[],
    /** The payload of every assertion that was accepted. */
    assertions: [] as JWTPayload[],
    /** Runs while a refresh is being answered. */
    duringRefresh: undefined as undefined | (() => Promise<unknown>),
    /** Runs while a revocation is being answered. */
    duringRevocation: undefined as undefined | (() => Promise<unknown>),

    issue(clientId: string): string {
      const token = `refresh-${randomBytes(16).toString('hex')}`
      owners.set(token, { clientId, spent: false })
      this.refreshTokens.push(token)
      return token
    },

    /** @returns false for a token that is unknown, of another client, or spent */
    redeem(token: string, clientId: string, rotates: boolean): boolean {
      this.presented.push(token)
      const owner = owners.get(token)
      if (owner === undefined || owner.clientId !== clientId || owner.spent) return false
      owner.spent = rotates
      return true
    },

    /** Signature, iss, sub, aud, jti once, exp: RFC 7523, 3. */
    async accepts(assertion: string, clientId: string): Promise<boolean> {
      for (const jwk of this.clientKeys) {
        const verified = await jwtVerify(assertion, await importJWK(jwk), {
          issuer: clientId,
          subject: clientId,
          audience: issuer,
          algorithms: [String(jwk.alg)],
          requiredClaims: ['jti', 'exp', 'iat'],
          maxTokenAge: '2 minutes',
          currentDate: this.now(),
        }).catch(() => null)
        if (verified === null || verified.protectedHeader.kid !== jwk.kid) continue
        const { jti = '' } = verified.payload
        if (assertions.has(jti)) return false
        assertions.add(jti)
        this.assertions.push(verified.payload)
        return true
      }
      return false
    },

    now: () => new Date(),
  }
}

/** The bearer of a request, from its header alone. */
export function bearerOf(request: RecordedRequest): string | null {
  return /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? null
}

export function refuse(response: ServerResponse, status: number, error: string): unknown {
  return response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error }))
}

/** Whether the code is redeemed by who asked for it, with the verifier that fits. */
export function keepsGrant(grant: Grant, clientId: string, form: URLSearchParams): boolean {
  const verifier = form.get('code_verifier') ?? ''
  return (
    form.get('grant_type') === 'authorization_code' &&
    clientId === grant.clientId &&
    form.get('redirect_uri') === grant.redirectUri &&
    createHash('sha256').update(verifier).digest('base64url') === grant.challenge
  )
}
