import fp from 'fastify-plugin'
import { tokenKindOf } from '#src/crypto/api-token.ts'
import { readBearerToken } from '#src/http/headers/bearer-token.ts'
import { isCrossOrigin } from '#src/http/headers/cross-origin.ts'
import { type ForwardedRequest, readForwardedRequest } from '#src/http/headers/forwarded-request.ts'
import { Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What a proxy asks about; undefined on routes that no proxy asks. */
    forwarded?: ForwardedRequest
  }
}

/**
 * Routes that a proxy asks about a request of somebody else (forward authentication). The proxy sends
 * a GET with the headers of that request, so the same-origin rule applies to the method that it names.
 */
export default fp<{ baseUrl: string }>(
  async function forwardedRequest(app, { baseUrl }) {
    app.decorateRequest('forwarded')
    app.addHook('onRequest', async function judgeForwarded(request) {
      const { headers } = request
      request.forwarded = readForwardedRequest(headers, baseUrl)
      const isOurs = tokenKindOf(readBearerToken(headers.authorization) ?? '') !== null
      // The token of an app does not exempt the cookie beside it.
      const judged = isOurs ? headers : { ...headers, authorization: undefined }
      if (!isCrossOrigin({ isSafe: request.forwarded.isSafe, headers: judged }, baseUrl)) return
      request.credential = null
      request.credentialFault = new Problem('cross-origin')
    })
  },
  { name: 'forwarded-request', fastify: '5.x', dependencies: ['credential'] },
)
