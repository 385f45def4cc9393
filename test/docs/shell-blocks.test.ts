import t from 'tap'
import { codeBlocks, readPage } from './page.ts'

/** The test that runs every block marked `sh` of a page; `sh not-run` is read by people only. */
const runners: Readonly<Record<string, string | null>> = {
  'README.md': null,
  'examples/spa/README.md': 'test/examples/spa-browser.test.ts',
  'docs/install.md': 'test/docs/install.test.ts',
  'docs/operations.md': 'test/docs/restore.test.ts',
  'docs/beside-your-app.md': 'test/docs/beside-your-app/endpoints.test.ts',
  'docs/deployment.md': null,
  'docs/upgrades.md': null,
}

for (const [path, runner] of Object.entries(runners)) {
  t.test(`${path}: each block says its language, and whether a test runs it`, async (t) => {
    const page = await readPage(path)
    const fences = [...page.matchAll(/^ *```(.*)$/gm)].map(([, info = '']) => info)
    const opening = fences.filter((_, index) => index % 2 === 0)
    t.notOk(opening.includes(''), 'no block without a language')
    const shells = opening.filter((info) => /^(sh|bash|shell|console)\b/.test(info))
    t.strictSame(
      shells.filter((info) => info !== 'sh' && info !== 'sh not-run'),
      [],
    )
    const blocks = codeBlocks(page, 'sh')
    t.equal(blocks.length, shells.filter((info) => info === 'sh').length)
    if (runner === null) {
      t.strictSame(blocks, [], 'no test would run it')
      return
    }
    const test = await readPage(runner)
    t.match(test, `readPage('${path}')`)
    t.match(test, '...others]', 'the test names every block, and fails at one more')
  })
}
