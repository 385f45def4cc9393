import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Viewer } from '#src/pages/layout.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The viewer of a page: decides which actions are shown, not which are allowed. Known after the
     * request has entered.
     */
    readonly viewer: Viewer
  }
  interface FastifyReply {
    /** Sends a page. */
    sendPage(markup: string): FastifyReply
    /** The same, with a content security policy that lets its script send requests to us. */
    sendLivePage(markup: string): FastifyReply
  }
}

/** Sends HTML pages. */
export default fp(
  async function pages(app) {
    app.decorateRequest('viewer', { getter: viewerOf })
    app.decorateReply('sendPage', function sendPage(markup) {
      return this.type('text/html; charset=utf-8').send(this.withTypedText(markup))
    })
    app.decorateReply('sendLivePage', function sendLivePage(markup) {
      const policy = this.getHeader('content-security-policy')
      this.header('content-security-policy', `${policy};connect-src 'self'`)
      return this.sendPage(markup)
    })
  },
  {
    name: 'pages',
    fastify: '5.x',
    dependencies: ['session', 'security-headers', 'sign-in-return'],
  },
)

function viewerOf(this: FastifyRequest): Viewer {
  if (this.enteredCaller === null) throw new Error('The request has not entered yet.')
  const { email, role, operator } = this.enteredCaller
  return { email, role, operator }
}
