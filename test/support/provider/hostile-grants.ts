import { createHash, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { importJWK, type JWK, type JWTPayload, jwtVerify } from 'jose'
import type { RecordedRequest } from '#dev/testing/receiver.ts'
import type { Answer } from './hostile-answers.ts'
import type { Json } from './hostile-tokens.ts'

/** Faults of refresh, userinfo and revocation. */
export type GrantFaults = {
  /** Issues refresh tokens at sign-in; none by default. */
  offline: boolean
  /** Sent `after` the token was rotated or `before` it was read. */
  refresh: { when: 'before' | 'after'; answer: Answer }
  /** Changes of the refresh response; `undefined` removes a member. */
  refreshBody: Json
  /** Adds an id_token with these changes to the refresh response. */
  refreshClaims: Json
  /** The refresh token is not rotated, and the response contains none. */
  keepsRefreshToken: boolean
  /** Changes of the userinfo claims; `undefined` removes one. */
  userinfo: Json
  userinfoAnswer: Answer
  /** The response is a JWT with these further changes. */
  signedUserinfo: Json
  revokeAnswer: Answer
}

export type Grant = {
  clientId: string
  redirectUri: string
  nonce: string
  challenge: string
  /** The client asked for `auth_time`. */
  maxAge: boolean
}
type Owner = { clientId: string; spent: boolean }

/** The provider's state: refresh tokens, assertions and everything it received. */
export function createRecords(issuer: string) {
  const owners = new Map<string, Owner>()
  const assertions = new Set<string>()

  return {
    /** Refresh tokens in the order in which the token endpoint received them. */
    presented: [] as string[],
    /** Tokens in the order in which the revocation endpoint received them. */
    revoked: [] as string[],
    /** Issued access tokens, oldest first. */
    accessTokens: [] as string[],
    /** Issued refresh tokens, oldest first. */
    refreshTokens: [] as string[],
    /** Public keys of clients that sign assertions. */
    clientKeys: [] as JWK[],
    /** The payload of every assertion that was accepted. */
    assertions: [] as JWTPayload[],
    /** Runs during a refresh. */
    duringRefresh: undefined as undefined | (() => Promise<unknown>),
    /** Runs during a revocation. */
    duringRevocation: undefined as undefined | (() => Promise<unknown>),

    issue(clientId: string): string {
      const token = `refresh-${randomBytes(16).toString('hex')}`
      owners.set(token, { clientId, spent: false })
      this.refreshTokens.push(token)
      return token
    },

    /** @returns false for a token that is unknown, used or from another client */
    redeem(token: string, clientId: string, rotates: boolean): boolean {
      this.presented.push(token)
      const owner = owners.get(token)
      if (owner === undefined || owner.clientId !== clientId || owner.spent) return false
      owner.spent = rotates
      return true
    },

    /** Checks signature, iss, sub, aud, exp and the single use of jti (RFC 7523, 3). */
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

/** The bearer token in the header of a request. */
export function bearerOf(request: RecordedRequest): string | null {
  return /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? null
}

export function refuse(response: ServerResponse, status: number, error: string): unknown {
  return response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error }))
}

/** True if the client that requested the code redeems it with the right code verifier. */
export function keepsGrant(grant: Grant, clientId: string, form: URLSearchParams): boolean {
  const verifier = form.get('code_verifier') ?? ''
  return (
    form.get('grant_type') === 'authorization_code' &&
    clientId === grant.clientId &&
    form.get('redirect_uri') === grant.redirectUri &&
    createHash('sha256').update(verifier).digest('base64url') === grant.challenge
  )
}
