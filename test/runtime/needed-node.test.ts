import { readFile } from 'node:fs/promises'
import t from 'tap'
import { isTooOld, neededNode } from '#src/runtime/needed-node.ts'

t.test('a Node without what the program uses is known by its version', async (t) => {
  const { engines } = JSON.parse(await readFile('package.json', 'utf8'))
  t.equal(engines.node, `>=${neededNode}`)
  for (const version of ['20.20.2', '22.99.0', '24.9.1', '24.15.9'])
    t.ok(isTooOld(version), version)
  for (const version of ['24.16.0', '24.100.0', '26.0.0', '100.1.0', process.versions.node])
    t.notOk(isTooOld(version), version)
})
