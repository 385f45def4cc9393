import type { Queryable } from './system-database.ts'

/** Every tenant with a member; the tenants themselves are only seen from inside. */
export async function* listTenantIds(plane: Queryable): AsyncGenerator<string> {
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const { rows } = await plane.query<{ tenant_id: string }>({
      name: 'next-tenant',
      text: 'SELECT tenant_id FROM memberships WHERE tenant_id > $1 ORDER BY tenant_id LIMIT 1',
      values: [after],
    })
    const [row] = rows
    if (row === undefined) return
    after = row.tenant_id
    yield after
  }
}
