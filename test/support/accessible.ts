import axe from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * What axe-core finds wrong with the open page; nothing serious is allowed to be. Colours are
 * looked at as dark too, the rest is the same in both.
 */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await findingsOf(page, 'axe.run()')
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await findingsOf(page, `axe.run({ runOnly: ['color-contrast'] })`)
  await page.emulateMedia({ colorScheme: 'light' })
  return [...found, ...dark.map((finding) => `dark: ${finding}`)]
}

async function findingsOf(page: Page, run: string): Promise<string[]> {
  const violations = await page.evaluate<axe.Result[]>(`${run}.then((found) => found.violations)`)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
