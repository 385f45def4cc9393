import type { Page } from 'playwright-core'
import t from 'tap'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { everyPage } from '#test/support/browser/every-page.ts'
import { startStrippingProxy } from '#test/support/browser/stripping-proxy.ts'
import { weightOf } from '#test/support/browser/weight.ts'

const maxPageBytes = 60_000 // with everything that the page loads
const widths = [390, 1280, 1920]

/** How far parts of the page moved while it loaded (0: nothing moved). */
function shiftOf(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    let sum = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value
    }).observe({ type: 'layout-shift', buffered: true })
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)))
  })`)
}

function tooWide(page: Page): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
}

const phone = { width: 390, height: 844 }

function heightOf(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollHeight')
}

t.test('every page is accessible in both schemes, small, steady and never too wide', async (t) => {
  const { pages, open } = await everyPage(t)
  t.ok(pages.length > 25, 'the pages are those that the program registers')
  const { page, faults } = await open()
  for (const { route, path } of pages) {
    if (path === undefined) {
      t.fail(`no sample for the page ${route}`)
      continue
    }
    await page.setViewportSize({ width: 1280, height: 900 })
    t.equal((await page.goto(path))?.status(), 200, route)
    const bytes = await weightOf(page)
    t.ok(bytes > 1_000 && bytes <= maxPageBytes, `${route}: ${bytes} bytes`)
    const shift = await shiftOf(page)
    t.ok(shift < 0.01, `${route}: layout shift ${shift}`)
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 })
      t.equal(await tooWide(page), 0, `${route} at ${width} px`)
    }
    t.same(await seriousFindings(page), [], route)
    await page.setViewportSize(phone)
    const parts = await page.locator('main nav:is(.parts, .topics)').first().isVisible()
    const screens = (await heightOf(page)) / phone.height
    t.ok(parts || screens <= 3, `${route}: ${screens} screens of a phone need links to its parts`)
  }
  t.same(faults, [], 'the content security policy blocks nothing, no script fails')

  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto('/')
  const leave = page.getByRole('button', { name: 'Sign out' })
  const { y = Number.NaN, height = 0 } = (await leave.boundingBox()) ?? {}
  t.ok(y >= 0 && y + height <= 800, 'an operator can sign out without scrolling')
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
  const last = (await links.last().boundingBox()) ?? { y: Number.NaN, height: 0 }
  t.ok(last.y + last.height <= y, 'and sees every link')
})

t.test('without scripts every page has its heading, and no button that does nothing', async (t) => {
  const { pages, open } = await everyPage(t)
  const { page } = await open({ javaScriptEnabled: false })
  for (const { route, path = '/' } of pages) {
    await page.goto(path)
    t.equal(await page.locator('h1').count(), 1, `${route}: one heading`)
    const dead = page.locator('button:visible:not(form button):not([popovertarget]):not([form])')
    t.same(await dead.allTextContents(), [], `${route}: every button does something`)
  }
})

t.test('every form is accepted behind a proxy that removes Fetch Metadata', async (t) => {
  const proxy = await startStrippingProxy(t)
  const { pages, routes, open, pause } = await everyPage(t, proxy)
  const { page } = await open()
  proxy.encodesBodies = true
  // The button of the link has opened the portal.
  const submitted = new Set(['/portal/open'])
  // The forms of the samples of the design lead nowhere.
  const withForms = pages.filter(({ route }) => route !== '/app/design')
  const submitAll = async ({ route, path = '/' }: (typeof pages)[number]) => {
    await page.goto(path)
    for (const [index, action] of (await formsOf(page)).entries()) {
      if (submitted.has(action)) continue
      submitted.add(action)
      await page.goto(path)
      const [landed] = await Promise.all([
        page.waitForNavigation(),
        page.evaluate(submitForm(index)),
      ])
      const status = landed?.status()
      t.equal(status, 415, `${action} on ${route}: past the same-origin rule, before any effect`)
    }
  }
  for (const one of withForms) await submitAll(one)
  await pause()
  for (const one of pages.filter(({ route }) => route.endsWith('/webhooks/:id')))
    await submitAll(one)
  const [portal = [], others = []] = [true, false].map((isPortal) =>
    proxy.posts.filter(({ path }) => path.startsWith('/portal/') === isPortal),
  )
  const originsOf = (posts: typeof others) => [...new Set(posts.map(({ origin }) => origin))]
  t.same(originsOf(others), [proxy.origin], 'every form names our own origin')
  t.same(originsOf(portal), ['null'], 'or none in the portal, whose pages send no referrer')
  const unseen = routes
    .filter(({ method, url }) => method === 'POST' && /^\/(app|portal)\//.test(url))
    .filter(({ url }) => ![...submitted].some((action) => isPathOf(url, action)))
  t.same(
    unseen.map(({ url }) => url),
    [],
    'every form of the pages was submitted',
  )

  proxy.encodesBodies = false
  await page.goto('/')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForLoadState()
  t.equal((await page.goto('/me'))?.status(), 401, 'and signing out signs out')
})

/** As a person does, but whatever its fields have, and with a body in any case. */
function submitForm(index: number): string {
  return `{
    const form = document.querySelectorAll('form[method=post]')[${index}]
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name: 'more' }))
    HTMLFormElement.prototype.submit.call(form)
  }`
}

/** The paths that the forms of a page post to. */
function formsOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...document.querySelectorAll('form[method=post]')].map((form) => new URL(form.getAttribute('action') ?? '', location.href).pathname)`,
  )
}

function isPathOf(route: string, path: string): boolean {
  return new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`).test(path)
}
