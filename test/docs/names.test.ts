import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { listAssets } from '#src/runtime/assets.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { listPages, readPage, root } from './page.ts'

const path = /\b(?:prisma|src|test|plugins|routes|docs|bench)\/[\w./-]*\.(?:ts|sql|md|prisma)\b/g

t.test('every file that a comment of prisma/ names exists', async (t) => {
  for (const file of (await listAssets('prisma')).filter((name) => name.endsWith('.sql'))) {
    const text = await readFile(join(root, file), 'utf8')
    const comments = [...text.matchAll(/--.*/g)].join('\n')
    for (const [name] of comments.matchAll(path))
      t.ok(existsSync(join(root, name)), `${file}: ${name}`)
    for (const [, name = ''] of comments.matchAll(/(?<![\w/])(\w+\.sql)\b/g)) {
      const places = ['', 'functions/', 'citus/', 'citus/functions/'].map(
        (folder) => `prisma/${folder}${name}`,
      )
      t.ok(
        places.some((place) => existsSync(join(root, place))),
        `${file}: ${name}`,
      )
    }
  }
})

t.test('every function that a page names, with a link to its file, is defined there', async (t) => {
  for (const page of listPages()) {
    const text = await readPage(page)
    for (const [, name = '', file = ''] of text.matchAll(
      /\[`(\w+)`\]\((?:\.\.\/)?(prisma\/[\w/-]+\.sql)\)/g,
    )) {
      const sql = await readFile(join(root, file), 'utf8')
      t.match(sql, new RegExp(`^CREATE OR REPLACE FUNCTION ${name}\\(`, 'm'), `${page}: ${name}`)
    }
  }
})

t.test("the README's path of a read leads to functions and policies that exist", async (t) => {
  const { admin } = await createDatabase(t)
  const text = await readPage('README.md')
  t.match(text, 'enter_session')
  const { rows } = await admin.query<{ name: string }>(
    `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  )
  const functions = rows.map(({ name }) => name)
  for (const [, name = ''] of text.matchAll(/`((?:enter|current|set|put)_\w+)(?:\(\))?`/g)) {
    t.ok(functions.includes(name), name)
  }
})
