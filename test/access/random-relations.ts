import fc from 'fast-check'
import { createUser } from '#dev/testing/people.ts'
import {
  addMember,
  createDocument,
  createFolder,
  createTeam,
  nestFolder,
} from '#test/support/callers/chain.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

const users = 3
const teams = 3
const folders = 6
const documents = 6

/** Numbers instead of ids. A folder is in the earlier folder `parent`, or directly with its team. */
export const randomWorld = fc.record({
  members: fc.uniqueArray(fc.record({ team: fc.nat(teams - 1), user: fc.nat(users - 1) }), {
    selector: ({ team, user }) => `${team} ${user}`,
  }),
  folders: fc.array(fc.record({ team: fc.nat(teams - 1), parent: fc.option(fc.nat(folders)) }), {
    minLength: folders,
    maxLength: folders,
  }),
  documents: fc.array(fc.nat(folders - 1), { minLength: 1, maxLength: documents }),
  moves: fc.array(
    fc.record({
      folder: fc.nat(folders - 1),
      team: fc.nat(teams - 1),
      parent: fc.option(fc.nat(folders - 1)),
    }),
    { maxLength: 4 },
  ),
  limit: fc.integer({ min: 1, max: 4 }),
})

type Plan = typeof randomWorld extends fc.Arbitrary<infer Value> ? Value : never
type Target = { teamId: number } | { parentId: number }

/** Creates the world in a new tenant, with a model that follows the chain itself. */
export async function createRandomWorld(database: TestDatabase, plan: Plan) {
  const first = await createUser(database)
  const { tenantId } = first
  const userIds = [first.userId]
  while (userIds.length < users) userIds.push((await createUser(database, { tenantId })).userId)
  const teamIds: number[] = []
  while (teamIds.length < teams) teamIds.push(await createTeam(database, tenantId))
  const members = new Set<string>()
  for (const { team, user } of plan.members) {
    await addMember(database, tenantId, at(teamIds, team), at(userIds, user))
    members.add(`${at(teamIds, team)} ${at(userIds, user)}`)
  }
  const placeOf = new Map<number, Target>()
  const folderIds: number[] = []
  for (const { team, parent } of plan.folders) {
    const parentId = parent === null ? undefined : folderIds[parent]
    const teamId = at(teamIds, team)
    if (parentId === undefined) {
      folderIds.push(await createFolder(database, tenantId, teamId))
      placeOf.set(at(folderIds, -1), { teamId })
    } else {
      folderIds.push(await nestFolder(database, parentId))
      placeOf.set(at(folderIds, -1), { parentId })
    }
  }
  const folderOf = new Map<number, number>()
  for (const folder of plan.documents) {
    const folderId = at(folderIds, folder)
    folderOf.set(await createDocument(database, folderId), folderId)
  }

  /** The folder and its parents, up to the top folder. */
  function pathOf(folderId: number): number[] {
    const place = placeOf.get(folderId)
    return place && 'parentId' in place ? [folderId, ...pathOf(place.parentId)] : [folderId]
  }

  return {
    tenantId,
    users: userIds,
    documents: [...folderOf.keys()],
    limit: plan.limit,
    moves: plan.moves.map(({ folder, team, parent }) => ({
      folder: at(folderIds, folder),
      target: parent === null ? { teamId: at(teamIds, team) } : { parentId: at(folderIds, parent) },
    })),
    reaches(userId: number, documentId: number): boolean {
      const top = placeOf.get(at(pathOf(folderOf.get(documentId) ?? 0), -1))
      return top !== undefined && 'teamId' in top && members.has(`${top.teamId} ${userId}`)
    },
    /** @returns false without a change if the folder would contain itself */
    move(folderId: number, target: Target): boolean {
      if ('parentId' in target && pathOf(target.parentId).includes(folderId)) return false
      placeOf.set(folderId, target)
      return true
    },
  }
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items.at(index)
  if (item === undefined) throw new Error(`nothing at ${index}`)
  return item
}
