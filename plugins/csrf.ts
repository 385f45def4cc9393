import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '#src/http/problems.ts'

const safeMethods = ['GET', 'HEAD', 'OPTIONS']
const ownSites = ['same-origin', 'none']

/**
 * An unsafe request with a cookie must come from our own pages: by `Sec-Fetch-Site`, without it by
 * `Origin`. With neither header it is no browser and passes (contract 8). A token is exempt: no other
 * site's page can make a browser send one.
 */
export default fp<{ baseUrl: string }>(
  async function csrf(app, { baseUrl }) {
    app.addHook('onRequest', async function refuseCrossOrigin(request: FastifyRequest) {
      if (safeMethods.includes(request.method) || request.headers.cookie === undefined) return
      const { 'sec-fetch-site': site, origin, authorization } = request.headers
      if (/^bearer\b/i.test(authorization ?? '')) return
      const own =
        site === undefined
          ? origin === undefined || origin === baseUrl
          : ownSites.includes(String(site))
      if (!own) throw new Problem('cross-origin')
    })
  },
  { name: 'csrf', fastify: '5.x' },
)
