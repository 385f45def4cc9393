import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe-core finds wrong with the open page; nothing serious is allowed to be. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const violations = await page.evaluate<axe.Result[]>(
    'axe.run().then((found) => found.violations)',
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
