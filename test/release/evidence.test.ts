import { readFile } from 'node:fs/promises'
import t from 'tap'
import { evidenceDocument, findFaults, titlesOf } from '#src/release/evidence.ts'

t.test(
  'docs/evidence.md is generated from the rules and the tests (npm run generate)',
  async (t) => {
    const document = await readFile(new URL('../../docs/evidence.md', import.meta.url), 'utf8')
    t.equal(document, await evidenceDocument(), 'as npm run generate writes it')
    t.match(document, /^## RFC 9700$/m)
    t.match(document, '| SW-7 | Asymmetric signatures (`v1a`). | Not implemented. |')
  },
)

t.test(
  'a reference to a test that does not exist is a fault, as is a rule without a word',
  async (t) => {
    const text = [
      `t.test('it is so', async (t) => {})`,
      `t.test('it\\'s “so” (really)', async (t) => {})`,
      `await t.test(\`\${row.id} does \${row.what}\`, (t) => run(t))`,
      `const rows = [{ id: 'A1', what: 'this' }, { id: 'A2', what: 'that' }]`,
      `// t.testing('silence')`,
    ].join('\n')
    const open = async (path: string) =>
      path === 'a.test.ts' ? { titles: titlesOf(text), texts: text } : null
    const faultsOf = (...rules: object[]) =>
      findFaults(
        [
          {
            source: 'S',
            about: '',
            sections: [
              { title: 'T', rules: rules.map((rule, n) => ({ id: `R${n}`, rule: 'x', ...rule })) },
            ],
          },
        ],
        open,
      )
    const naming = (title: string) => faultsOf({ tests: [`a.test.ts › ${title}`] })
    for (const title of [
      'it is so',
      "it's “so” (really)",
      'A1 does this',
      `\${row.id} does \${row.what}`,
    ]) {
      t.same(await naming(title), [], title)
    }
    for (const title of ['it is', 'it is so!', 'A1 does nothing', 'A3 does this', 'silence', '']) {
      t.same(await naming(title), [`R0: no test “${title}” in test/a.test.ts`], title)
    }
    t.same(await faultsOf({ tests: ['b.test.ts › it is so'] }), ['R0: no file test/b.test.ts'])
    t.same(await faultsOf({}, { tests: [] }), [
      'R0: neither a test nor a reason',
      'R1: neither a test nor a reason',
    ])
    t.same(await faultsOf({ untested: 'why' }, { notApplicable: 'why' }), [])
    t.same(await faultsOf({ untested: 'x' }, { id: 'R0', untested: 'x' }), [
      'R0: the id is used twice',
    ])
  },
)
