import type { FastifyReply, FastifyRequest } from 'fastify'
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
    /** Sends a page, with a content security policy that allows our own scripts. */
    sendPage(markup: string): FastifyReply
    /** The same for a page whose script sends requests. */
    sendLivePage(markup: string): FastifyReply
  }
}

/** Sends HTML pages. */
export default fp(
  async function pages(app) {
    app.decorateRequest('viewer', { getter: viewerOf })
    app.decorateReply('sendPage', function sendPage(markup) {
      allow(this, "script-src 'self'")
      return this.type('text/html; charset=utf-8').send(this.withTypedText(markup))
    })
    app.decorateReply('sendLivePage', function sendLivePage(markup) {
      allow(this, "connect-src 'self'")
      return this.sendPage(markup)
    })
  },
  {
    name: 'pages',
    fastify: '5.x',
    dependencies: ['session', 'security-headers', 'sign-in-return'],
  },
)

/** Adds a directive to the content security policy, which without it allows nothing of the kind. */
function allow(reply: FastifyReply, directive: string): void {
  const policy = reply.getHeader('content-security-policy')
  reply.header('content-security-policy', `${policy};${directive}`)
}

function viewerOf(this: FastifyRequest): Viewer {
  if (this.enteredCaller === null) throw new Error('The request has not entered yet.')
  const { email, role, operator } = this.enteredCaller
  return { email, role, operator }
}
