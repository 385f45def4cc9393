import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { documents } from '#shop/resources/documents.ts'
import { actionsOf } from '#src/rows/actions.ts'
import {
  changeFolder,
  createFolder,
  deleteFolder,
  findFolder,
  listFolders,
} from '#src/teams/folders.ts'
import {
  addTeamMember,
  deleteTeam,
  findTeam,
  findTeamMember,
  listTeamMembers,
  listTeams,
  removeTeamMember,
  renameTeam,
} from '#src/teams/teams.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'

const { insert: createDocument } = actionsOf(documents)

t.test(
  'without row-level security the queries alone stay within their tenant and team',
  async (t) => {
    const database = await createDatabase(t)
    const db = openPatiently(t, database.superuserUrl, 1)
    const enter = await allowScopes(database)
    const mine = await createUser(database)
    const chain = await createChain(database, mine)
    const { tenantId, userId } = await createUser(database)
    const own = await createChain(database, { tenantId, userId })
    const { teamId, folderId } = chain
    const team = { tenantId, teamId }
    const page = { limit: 10, after: null }
    const now = new Date()
    const draft = { title: 'x', body: 'x' }

    const asking = { role: 'editor', department: null, plan: null, serviceId: null }
    const nothing = await db.write(enter({ tenantId }), async (tx) => [
      await findFolder(tx, { tenantId }, folderId),
      await createFolder(tx, { tenantId }, { name: 'x', teamId }, now),
      await createFolder(tx, { tenantId }, { name: 'x', parentId: folderId }, now),
      await changeFolder(tx, { tenantId }, folderId, { name: 'x' }, now),
      await changeFolder(tx, { tenantId }, folderId, { teamId: own.teamId }, now),
      await changeFolder(tx, { tenantId }, own.folderId, { teamId }, now),
      await changeFolder(tx, { tenantId }, own.folderId, { parentId: folderId }, now),
      (await deleteFolder(tx, { tenantId }, folderId)) || null,
      await findTeam(tx, { tenantId }, teamId),
      await renameTeam(tx, { tenantId }, teamId, 'x', now),
      (await deleteTeam(tx, { tenantId }, teamId)) || null,
      await listTeamMembers(tx, team, page),
      await findTeamMember(tx, team, mine.userId),
      (await removeTeamMember(tx, team, mine.userId)) || null,
      await createDocument(tx, { ...asking, tenantId, userId }, { ...draft, folderId }, now),
      await createDocument(
        tx,
        { ...asking, tenantId, userId: mine.userId },
        { ...draft, folderId },
        now,
      ),
    ])
    t.strictSame(nothing, Array(nothing.length).fill(null))
    const pairs = [
      [teamId, userId],
      [own.teamId, mine.userId],
    ] as const
    for (const [teamId, userId] of pairs) {
      const adding = db.write(enter({ tenantId }), (tx) =>
        addTeamMember(tx, { tenantId, teamId }, userId, now),
      )
      await t.rejects(adding, { code: 'not-found' })
    }
    const [folders, teams] = await db.read(enter({ tenantId }), async (tx) => [
      await listFolders(tx, { tenantId }, page),
      await listTeams(tx, { tenantId }, page),
    ])
    t.strictSame(
      [folders.data.map(({ id }) => id), teams.data.map(({ id }) => id)],
      [[own.folderId], [own.teamId]],
    )
  },
)
