import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import t from 'tap'
import { everyPage } from '#test/support/browser/every-page.ts'
import { weightOf } from '#test/support/browser/weight.ts'

/*
 * Weight and first paint of every page, for a look on a quiet machine: `npm test -- test/pages/first-paint.ts`
 * prints the heaviest and the slowest and writes dist/first-paint.md. Nothing is asserted: a time depends on the
 * machine, and test/pages/every-page-browser.test.ts has the limit of the weight. The goals are 60 KB and 300 ms.
 */

const file = fileURLToPath(new URL('../../dist/first-paint.md', import.meta.url))
const runs = 3 // each with an empty cache; the median counts
const shownPages = 10

type Measured = { route: string; bytes: number; ms: number }

/** Milliseconds from the start of the navigation to the first contentful paint. */
function firstPaintOf(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      const [paint] = list.getEntriesByName('first-contentful-paint')
      if (paint) resolve(paint.startTime)
    }).observe({ type: 'paint', buffered: true })
  })`)
}

t.test('weight and first paint of every page', async (t) => {
  const { pages, open } = await everyPage(t)
  const { page } = await open()
  const browser = await page.context().newCDPSession(page)
  const measured: Measured[] = []
  for (const { route, path = '' } of pages) {
    const times: number[] = []
    for (let run = 0; run < runs; run += 1) {
      await browser.send('Network.clearBrowserCache')
      await page.goto(path)
      times.push(await firstPaintOf(page))
    }
    const ms = times.toSorted((one, other) => one - other)[runs >> 1] ?? Number.NaN
    measured.push({ route, bytes: await weightOf(page), ms })
  }
  t.pass(`${measured.length} pages`)
  const heaviest = measured.toSorted((one, other) => other.bytes - one.bytes)
  const slowest = measured.toSorted((one, other) => other.ms - one.ms)
  for (const one of [...heaviest.slice(0, shownPages), ...slowest.slice(0, shownPages)]) {
    t.comment(line(one))
  }
  await mkdir(dirname(file), { recursive: true })
  const head = '| Page | Bytes as sent | First paint, ms |\n| --- | --- | --- |\n'
  await writeFile(file, head + heaviest.map(line).join(''))
})

function line({ route, bytes, ms }: Measured): string {
  return `| ${route} | ${bytes} | ${ms.toFixed(0)} |\n`
}
