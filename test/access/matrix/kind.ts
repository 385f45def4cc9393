import type * as shared from '#dev/testing/access/kind.ts'
import type { Params } from '#dev/testing/access/kind.ts'
import type { TestApp } from '#test/support/app/app.ts'
import type { World } from './world.ts'

export type Wanted = shared.Wanted<TestApp>
export type Kind = shared.Kind<TestApp>
export type Kinds = shared.Kinds<TestApp>

/** Runs a statement that creates an object and returns its id. */
export async function insert(world: World, sql: string, values: unknown[]): Promise<Params | null> {
  const { rows } = await world.test.database.admin.query<{ id: string }>(sql, values)
  const [row] = rows
  return row === undefined ? null : { id: String(row.id) }
}
