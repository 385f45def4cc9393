import fp from 'fastify-plugin'

declare module 'fastify' {
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
    app.decorateReply('sendPage', function sendPage(markup) {
      return this.header('cache-control', 'no-store').type('text/html; charset=utf-8').send(markup)
    })
    app.decorateReply('sendLivePage', function sendLivePage(markup) {
      const policy = this.getHeader('content-security-policy')
      this.header('content-security-policy', `${policy};script-src 'self';connect-src 'self'`)
      return this.sendPage(markup)
    })
  },
  { name: 'pages', fastify: '5.x', dependencies: ['security-headers'] },
)
