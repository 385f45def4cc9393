import { namesOf } from './declaration.ts'
import type { NewResource } from './input.ts'
import { valuesOf } from './kinds.ts'

/**
 * A test of who reaches a new row, for `node --test`.
 * @param role of the people in it, who may do everything
 */
export function appTestOf(resource: NewResource, role: string): { path: string; text: string } {
  const { name, scope, fields } = resource
  const { path } = namesOf(resource)
  const values = fields.map((field) => `${field.key}: ${valuesOf(field)[0]}`)
  const body = [...values, ...(scope === 'chain' ? ['folderId'] : [])].join(', ')
  const words = name.replaceAll('-', ' ')
  const text = `import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestApp } from 'gatehouse/testing'

const app = await startTestApp()
after(app.stop)

test('${expected[scope].words}', async () => {
  const writer = await app.addPerson({ role: '${role}' })
  const colleague = await app.addPerson({ role: '${role}', tenantId: writer.tenantId })
  const stranger = await app.addPerson({ role: '${role}' })
${scope === 'chain' ? folder : ''}  const created = await writer.send('POST', '${path}', {
    ${body},
  })
  assert.equal(created.status, 201)
  const path = \`${path}/\${created.body.id}\`
  assert.equal((await writer.send('GET', path)).status, 200)
  assert.equal((await colleague.send('GET', path)).status, ${expected[scope].colleague})
  assert.equal((await stranger.send('GET', path)).status, 404)
  assert.equal((await app.send('GET', path)).status, 401)
})
`
  return { path: `test/${name}.test.ts`, text: text.replaceAll('WORDS', words) }
}

const expected = {
  owner: { words: 'nobody but its owner sees a WORDS', colleague: 404 },
  tenant: { words: 'the members of its tenant see a WORDS, and nobody else', colleague: 200 },
  chain: { words: 'the team of its folder sees a WORDS, and nobody else', colleague: 404 },
} as const

const folder = `  const team = await writer.send('POST', '/teams', { name: 'Team' })
  await writer.send('PUT', \`/teams/\${team.body.id}/members/\${writer.userId}\`)
  const home = { name: 'Folder', teamId: team.body.id }
  const { id: folderId } = (await writer.send('POST', '/folders', home)).body
`
