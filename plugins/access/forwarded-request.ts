import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Audience } from '#src/config/audiences.ts'
import { tokenKindOf } from '#src/crypto/api-token.ts'
import { readBearerToken } from '#src/http/headers/bearer-token.ts'
import { isCrossOrigin } from '#src/http/headers/cross-origin.ts'
import { type ForwardedRequest, readForwardedRequest } from '#src/http/headers/forwarded-request.ts'
import { Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer is 401 and never a redirect to sign-in, whatever the proxy sends. */
    takesNoRedirect?: true
  }
  interface FastifyRequest {
    /** What a proxy asks about; undefined on routes that no proxy asks. */
    forwarded?: ForwardedRequest
    /** The app that the answer is for; null if it is not configured, or not served at this origin. */
    audience: string | null
  }
}

/**
 * Forward authentication: a proxy asks these routes about a request that it has received. The proxy
 * sends a GET with the headers of that request, so the same-origin rule applies to the method that it
 * names, and to the origin of the app if it is configured.
 */
export default fp<{ baseUrl: string; audiences: readonly Audience[] }>(
  async function forwardedRequest(app, { baseUrl, audiences }) {
    app.decorateRequest('forwarded')
    app.decorateRequest('audience', null)
    const { protocol } = new URL(baseUrl)
    app.addHook('onRequest', async function judgeForwarded(request) {
      const { headers } = request
      const { name = null, origins = [] } = findAudience(request, audiences) ?? {}
      const sentTo = URL.parse(`${protocol}//${request.host}`)?.origin
      const served = origins.find((one) => one === sentTo)
      const origin = served ?? baseUrl
      request.audience = served === undefined && origins.length > 0 ? null : name
      const forwarded = readForwardedRequest(headers, origin)
      const { takesNoRedirect = forwarded.takesNoRedirect } = request.routeOptions.config
      request.forwarded = { ...forwarded, takesNoRedirect }
      const isOurs = tokenKindOf(readBearerToken(headers.authorization) ?? '') !== null
      // The token of an app does not exempt the cookie beside it.
      const judged = isOurs ? headers : { ...headers, authorization: undefined }
      if (!isCrossOrigin({ isSafe: request.forwarded.isSafe, headers: judged }, origin)) return
      request.credential = null
      request.credentialFault = new Problem('cross-origin')
    })
  },
  { name: 'forwarded-request', fastify: '5.x', dependencies: ['credential'] },
)

/** The hook runs before the query is validated. */
function findAudience({ query }: FastifyRequest, audiences: readonly Audience[]) {
  const { audience: name = audiences[0]?.name } = query as { audience?: unknown }
  return audiences.find((one) => one.name === name)
}
