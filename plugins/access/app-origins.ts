import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Origins whose pages may call this route with the session cookie. */
    appOrigins?: readonly string[]
  }
}

/**
 * Routes that a front end on a sibling origin may call with the session cookie (APP_ORIGINS). It only
 * marks the routes of its scope: plugins/access/credential.ts then accepts the cookie of an unsafe
 * request from there, and plugins/http/cors.ts allows credentials.
 */
export default fp<{ origins: readonly string[] }>(
  async function appOrigins(app, { origins }) {
    app.addHook('onRoute', function markRoute(route) {
      route.config = { ...route.config, appOrigins: origins }
    })
  },
  { name: 'app-origins', fastify: '5.x', dependencies: ['credential', 'cors'] },
)
