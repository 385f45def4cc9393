import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { comparable, type Send, senderOf } from '#test/support/app/send.ts'
import {
  createChain,
  createDocument,
  createFolder,
  createTeam,
  nestFolder,
} from '#test/support/callers/chain.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

const fields = ['id', 'tenantId', 'name', 'teamId', 'parentId', 'createdAt', 'updatedAt']

t.test('an administrator creates, reads, lists, renames and deletes folders', async (t) => {
  const { admin, teamId, user } = await tree()
  const created = await admin('POST', '/folders', { name: 'Contracts', teamId })
  t.equal(created.statusCode, 201)
  const folder = created.json()
  t.strictSame(Object.keys(folder), fields)
  t.match(folder, { tenantId: user.tenantId, name: 'Contracts', teamId, parentId: null })
  const url = `/folders/${folder.id}`
  t.strictSame((await admin('GET', url)).json(), folder)
  t.strictSame((await admin('GET', '/folders?limit=1')).json().data, [folder], 'newest first')

  const nested = await admin('POST', '/folders', { name: '2026', parentId: folder.id })
  t.equal(nested.statusCode, 201)
  t.match(nested.json(), { name: '2026', teamId, parentId: folder.id })
  const renamed = await admin('PATCH', url, { name: 'Agreements' })
  t.equal(renamed.statusCode, 200)
  t.match(renamed.json(), { ...folder, name: 'Agreements', updatedAt: String })

  const full = await admin('DELETE', url)
  t.equal(full.statusCode, 409)
  t.equal(full.json().detail, 'The folder is not empty.')
  t.equal((await admin('DELETE', `/folders/${nested.json().id}`)).statusCode, 204)
  t.equal((await admin('DELETE', url)).statusCode, 204)
  t.equal((await admin('GET', url)).statusCode, 404)
})

t.test('a folder with documents that the administrator cannot reach is not empty', async (t) => {
  const { admin, database, folders } = await tree()
  const [, , bottom = 0] = folders
  await createDocument(database, bottom)
  t.equal((await admin('DELETE', `/folders/${bottom}`)).statusCode, 409)
  t.equal((await admin('GET', `/folders/${bottom}`)).statusCode, 200)
})

t.test('a nested folder belongs to the team of its parent, even after a move', async (t) => {
  const { admin, member, database, user, folders } = await tree()
  const [top = 0, middle = 0, bottom = 0] = folders
  const document = await createDocument(database, bottom)
  const reads = async () => (await member('GET', `/documents/${document}`)).statusCode
  const move = async (id: number, place: object) => {
    const answer = await admin('PATCH', `/folders/${id}`, place)
    t.equal(answer.statusCode, 200)
    return answer.json()
  }
  t.equal(await reads(), 200, 'three levels deep')
  const other = await createTeam(database, user.tenantId)
  t.match(await move(top, { teamId: other }), { teamId: other, parentId: null })
  t.equal(await reads(), 404, 'the team of the top folder has changed')
  t.match((await admin('GET', `/folders/${bottom}`)).json(), { teamId: other, parentId: middle })
  const mine = await createTeam(database, user.tenantId, [user.userId])
  const home = await createFolder(database, user.tenantId, mine)
  t.match(await move(middle, { parentId: home, name: 'M' }), {
    teamId: mine,
    parentId: home,
    name: 'M',
  })
  t.equal(await reads(), 200, 'moved into a folder of one of the member’s teams')
  await move(middle, { parentId: top })
  t.equal(await reads(), 404, 'moved out again')
  await move(bottom, { teamId: mine })
  t.equal(await reads(), 200, 'a top folder')
})

t.test('a folder is never moved into itself or a folder it contains', async (t) => {
  const { admin, folders } = await tree()
  const [top = 0, middle = 0, bottom = 0] = folders
  for (const [id, parentId] of [
    [top, top],
    [top, middle],
    [top, bottom],
    [middle, bottom],
  ]) {
    const answer = await admin('PATCH', `/folders/${id}`, { parentId })
    t.equal(answer.statusCode, 409)
    t.equal(
      answer.json().detail,
      'A folder cannot be moved into itself or into a folder it contains.',
    )
  }
  t.equal((await admin('PATCH', `/folders/${bottom}`, { parentId: top })).statusCode, 200)
})

t.test('two moves at once never make a cycle: one of them is refused', async (t) => {
  const { admin, database, user, teamId } = await tree()
  const create = () => createFolder(database, user.tenantId, teamId)
  for (let turn = 0; turn < 10; turn++) {
    const [one, other] = [await create(), await create()]
    const answers = await Promise.all([
      admin('PATCH', `/folders/${one}`, { parentId: other }),
      admin('PATCH', `/folders/${other}`, { parentId: one }),
    ])
    t.strictSame(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 409])
  }
})

t.test('folders are nested at most 32 deep', async (t) => {
  const { admin, database, user, teamId } = await tree()
  let deepest = await createFolder(database, user.tenantId, teamId)
  const top = deepest
  for (let depth = 2; depth <= 32; depth++) deepest = await nestFolder(database, deepest)
  const answers = [
    await admin('POST', '/folders', { name: 'x', parentId: deepest }),
    await admin('PATCH', `/folders/${top}`, {
      parentId: await createFolder(database, user.tenantId, teamId),
    }),
  ]
  for (const answer of answers) {
    t.equal(answer.statusCode, 409)
    t.equal(answer.json().detail, 'Folders are nested at most 32 deep.')
  }
})

t.test(
  'another tenant’s team and folder are the same 404 as missing ones, in paths and bodies',
  async (t) => {
    const { admin, folders, teamId } = await tree()
    const [own] = folders
    const stranger = await createUser(test.database, { role: 'admin' })
    const foreign = await createChain(test.database, stranger)
    const missing = comparable(await admin('GET', '/folders/987654321'))
    const attempts: Parameters<Send>[] = [
      ['GET', `/folders/${foreign.folderId}`],
      ['PATCH', `/folders/${foreign.folderId}`, { name: 'x' }],
      ['PATCH', `/folders/${foreign.folderId}`, { teamId }],
      ['PATCH', `/folders/${foreign.folderId}`, { parentId: own }],
      ['DELETE', `/folders/${foreign.folderId}`],
      ['PATCH', `/folders/${own}`, { teamId: foreign.teamId }],
      ['PATCH', `/folders/${own}`, { parentId: foreign.folderId }],
      ['PATCH', `/folders/${own}`, { parentId: 987654321 }],
      ['POST', '/folders', { name: 'x', teamId: foreign.teamId }],
      ['POST', '/folders', { name: 'x', parentId: foreign.folderId }],
      ['POST', '/folders', { name: 'x', teamId: 987654321 }],
      ['POST', '/folders', { name: 'x', parentId: Number.MAX_SAFE_INTEGER }],
    ]
    for (const attempt of attempts) {
      t.strictSame(comparable(await admin(...attempt)), missing, attempt.join(' '))
    }
    const listed = (await admin('GET', '/folders')).json().data
    t.notOk(listed.some(({ id }: { id: number }) => id === foreign.folderId))
    const { rows } = await test.database.admin.query(
      'SELECT name, team_id FROM folders WHERE id = $1',
      [foreign.folderId],
    )
    t.match(rows, [{ name: 'A folder', team_id: String(foreign.teamId) }], 'nothing was changed')
  },
)

t.test('folders are for administrators', async (t) => {
  const { member, folders, teamId } = await tree()
  const attempts: Parameters<Send>[] = [
    ['GET', '/folders'],
    ['GET', `/folders/${folders[0]}`],
    ['POST', '/folders', { name: 'x', teamId }],
    ['PATCH', `/folders/${folders[0]}`, { name: 'x' }],
    ['DELETE', `/folders/${folders[2]}`],
    ['GET', '/folders/987654321'],
  ]
  for (const attempt of attempts)
    t.equal((await member(...attempt)).statusCode, 403, attempt.join(' '))
})

t.test('only listed fields are accepted', async (t) => {
  const { admin, folders, teamId, user } = await tree()
  const [parentId] = folders
  const bodies = [
    {},
    { name: 'x' },
    { teamId },
    { name: 'x', teamId, parentId },
    { name: '  ', teamId },
    { name: 'x'.repeat(201), teamId },
    { name: 'x', teamId: String(teamId) },
    { name: 'x', teamId: 2 ** 53 },
    { name: 'x', teamId: null },
    { name: 'x', parentId: 0 },
    { name: 'x', teamId, id: 1 },
    { name: 'x', teamId, depth: 1 },
    { name: 'x', teamId, parentDepth: 1 },
    { name: 'x', teamId, tenantId: user.tenantId },
  ]
  for (const body of bodies) {
    t.equal((await admin('POST', '/folders', body)).statusCode, 400, JSON.stringify(body))
  }
  const changes = [
    {},
    { teamId, parentId },
    { parentId: null },
    { name: 'x', depth: 1 },
    { name: 'x', tenantId: user.tenantId },
  ]
  for (const change of changes) {
    const answer = await admin('PATCH', `/folders/${parentId}`, change)
    t.equal(answer.statusCode, 400, JSON.stringify(change))
  }
})

/** A tenant with an administrator, and a member of the team that owns three nested folders. */
async function tree() {
  const { database } = test
  const user = await createUser(database, { role: 'editor' })
  const { tenantId } = user
  const teamId = await createTeam(database, tenantId, [user.userId])
  const top = await createFolder(database, tenantId, teamId)
  const middle = await nestFolder(database, top)
  const folders = [top, middle, await nestFolder(database, middle)]
  const admin = await senderOf(test, await createUser(database, { role: 'admin', tenantId }))
  return { database, user, teamId, folders, admin, member: await senderOf(test, user) }
}
