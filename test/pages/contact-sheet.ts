import { mkdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { everyPage } from '#test/support/browser/every-page.ts'

/*
 * Every page in four forms, to look at: `npm test -- test/pages/contact-sheet.ts` writes
 * dist/contact-sheet/index.html. CONTACT_SHEET=/docs,/app/posts takes the pages that start with one
 * of these paths.
 */

const folder = fileURLToPath(new URL('../../dist/contact-sheet', import.meta.url))
const forms = [
  { width: 1280, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const
const wanted = (process.env.CONTACT_SHEET ?? '/').split(',')

t.test('every page in four forms', async (t) => {
  const { pages, open } = await everyPage(t)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const { page } = await open()
  const rows: string[] = []
  for (const { route, path = '' } of pages.filter((one) =>
    wanted.some((start) => one.route.startsWith(start)),
  )) {
    const pictures: string[] = []
    for (const { width, colorScheme } of forms) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      t.equal((await page.goto(path))?.status(), 200, `${route}, ${width} px, ${colorScheme}`)
      const name = `${route.replaceAll(/\W+/g, '-')}-${width}-${colorScheme}.png`
      await page.screenshot({ path: `${folder}/${name}`, fullPage: true })
      pictures.push(`<img src="${name}" alt="${width} px, ${colorScheme}" width="${width / 3}">`)
    }
    rows.push(`<h2>${route}</h2><p>${pictures.join(' ')}</p>`)
  }
  t.comment(`${folder}/index.html`)
  await writeFile(
    `${folder}/index.html`,
    `<!doctype html><meta charset="utf-8"><title>Contact sheet</title>${rows.join('\n')}`,
  )
})
