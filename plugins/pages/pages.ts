import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Principal } from '#src/access/caller.ts'
import type { Page, PortalFrame, Viewer } from '#src/pages/kit/layout.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The frame of the pages in the portal; null for any other page. */
    portal: PortalFrame | null
    /**
     * The viewer of a page: decides which actions are shown, not which are allowed. Known after the
     * request has entered.
     */
    readonly viewer: Viewer
  }
  interface FastifyReply {
    /** Sends a page. The script of one with the search of Ctrl+K may send requests to us. */
    sendPage(page: Page): FastifyReply
    /** Sends a page that follows something, so its script may send requests to us. */
    sendLivePage(page: Page): FastifyReply
  }
}

/** Sends HTML pages. */
export default fp(
  async function pages(app) {
    app.decorateRequest('portal', null)
    app.decorateRequest('viewer', { getter: viewerOf })
    app.decorateReply('sendPage', function sendPage(page) {
      if (hasSearch(page)) allowRequests(this)
      if (this.request.method === 'GET') this.forgetDraft()
      return this.type('text/html; charset=utf-8').send(this.server.renderPage(page))
    })
    app.decorateReply('sendLivePage', function sendLivePage(page) {
      if (!hasSearch(page)) allowRequests(this)
      return this.sendPage(page)
    })
  },
  {
    name: 'pages',
    fastify: '5.x',
    dependencies: ['branding', 'session', 'security-headers', 'sign-in-return'],
  },
)

/** The navigation of people who are signed in has it. */
function hasSearch({ open }: Page): boolean {
  return open !== undefined && 'current' in open && !open.portal
}

function allowRequests(reply: FastifyReply): void {
  const policy = reply.getHeader('content-security-policy')
  reply.header('content-security-policy', `${policy};connect-src 'self'`)
}

function viewerOf(this: FastifyRequest): Viewer {
  if (this.enteredCaller === null) throw new Error('The request has not entered yet.')
  const { userId, email, role, operator, tenantId } = this.enteredCaller
  const { name = null, tenants = [] } = this.person ?? {}
  const draft = this.draft?.sender === userId ? this.draft : null
  const portal = this.portal && { ...this.portal, tenantName: tenantNameOf(this.enteredCaller) }
  return { userId, email, role, operator, tenantId, name, tenants, draft, portal }
}

function tenantNameOf(caller: Principal): string | null {
  return caller.portalSessionId === undefined ? null : caller.tenantName
}
