import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { callerOf } from '#src/auth/sessions/caller.ts'
import type { Viewer } from '#src/pages/layout.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who looks at the page: decides what it offers, never what it does. */
    readonly viewer: Viewer
  }
  interface FastifyReply {
    /** Answers with a page, which no cache keeps. */
    sendPage(markup: string): FastifyReply
    /** The same with leave to run the program's own script files and to ask the program again. */
    sendLivePage(markup: string): FastifyReply
  }
}

/** How pages leave; what scripts need is added to the content policy of those that have one. */
export default fp(
  async function pages(app) {
    app.decorateRequest('viewer', { getter: viewerOf })
    app.decorateReply('sendPage', function sendPage(markup) {
      return this.header('cache-control', 'no-store').type('text/html; charset=utf-8').send(markup)
    })
    app.decorateReply('sendLivePage', function sendLivePage(markup) {
      const policy = this.getHeader('content-security-policy')
      this.header('content-security-policy', `${policy};script-src 'self';connect-src 'self'`)
      return this.sendPage(markup)
    })
  },
  { name: 'pages', fastify: '5.x', dependencies: ['operator', 'security-headers'] },
)

function viewerOf(this: FastifyRequest): Viewer {
  return { role: callerOf(this)?.role ?? null, operator: this.operator }
}
