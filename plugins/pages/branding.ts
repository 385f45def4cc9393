import fp from 'fastify-plugin'
import type { Brand } from '#src/config/brand.ts'
import { type Page, renderPage } from '#src/pages/kit/layout.ts'

declare module 'fastify' {
  interface FastifyInstance {
    readonly brand: Brand
    /** A page as HTML, with the name and the colours of the brand. */
    renderPage(page: Page): string
  }
}

/** Renders pages under the name, logo and colours of the settings. */
export default fp<{ brand: Brand }>(
  async function branding(app, { brand }) {
    app.decorate('brand', brand)
    app.decorate('renderPage', (page) => renderPage(page, brand))
  },
  { name: 'branding', fastify: '5.x' },
)
