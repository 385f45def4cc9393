import type { Page } from 'playwright-core'

/** The bytes of the page and of everything it loaded, as they were sent. */
export function weightOf(page: Page): Promise<number> {
  return page.evaluate<number>(`
    ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`)
}
