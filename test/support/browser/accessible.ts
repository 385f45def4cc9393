import axe from 'axe-core'
import type { Page } from 'playwright-core'

// Experimental in axe-core, so not part of its defaults: a visible label is part of the name.
const options = `{ rules: { 'label-content-name-mismatch': { enabled: true } } }`

/**
 * Serious and critical findings of axe-core for the open page. Colour contrast is also checked in
 * the dark scheme; all other rules do not depend on it.
 */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await findingsOf(page, `axe.run(${options})`)
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
