import t from 'tap'
import { version } from '#src/runtime/assets.ts'
import { readPage } from '#test/docs/page.ts'

t.test('the newest entry of the changelog is this version, with what it needs', async (t) => {
  const [, entry = ''] = (await readPage('CHANGELOG.md')).split(/^## /m)
  t.match(entry, new RegExp(`^${RegExp.escape(version)} `))
  for (const part of ['Needs', 'Migrate']) {
    const [, text = ''] = entry.split(`### ${part}\n`)
    t.match(text.trim(), /^[^#]/, `${part} has a text`)
  }
})

t.test('the image has this version', async (t) => {
  t.match(await readPage('Dockerfile'), `ARG VERSION=${version}\n`)
})
