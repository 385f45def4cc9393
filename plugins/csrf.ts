import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { readBearerToken } from '#src/http/bearer-token.ts'
import { Problem } from '#src/http/problems.ts'

const safeMethods = ['GET', 'HEAD', 'OPTIONS']
const allowedSites = ['same-origin', 'none']

/**
 * Refuses cross-site requests. An unsafe request with a cookie must be same-origin according to
 * `Sec-Fetch-Site` or, without it, `Origin`. Without both headers it does not come from a browser and
 * is allowed (contract 8). Bearer tokens are exempt, because other sites cannot make a browser send
 * one.
 */
export default fp<{ baseUrl: string }>(
  async function csrf(app, { baseUrl }) {
    app.addHook('onRequest', async function rejectCrossOrigin(request: FastifyRequest) {
      if (safeMethods.includes(request.method) || request.headers.cookie === undefined) return
      const { 'sec-fetch-site': site, origin, authorization } = request.headers
      if (readBearerToken(authorization) !== null) return
      const isSameOrigin =
        site === undefined
          ? origin === undefined || origin === baseUrl
          : allowedSites.includes(String(site))
      if (!isSameOrigin) request.rejectCredential(new Problem('cross-origin'))
    })
  },
  { name: 'csrf', fastify: '5.x', dependencies: ['credential'] },
)
