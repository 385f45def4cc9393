import type { Resource } from './kit/define.ts'
import { guardedOf } from './kit/fields/guarded.ts'
import { columnOf } from './kit/names.ts'
import { managingRoleOf, type Roles, rolesOf } from './roles.ts'

/**
 * The function by which exports leave out columns that need a permission. A person's export has none of them: a role
 * is no part of what a person may always have. A tenant's has what the role that manages it may see.
 */
export function hiddenColumnsFunction(app: {
  readonly resources: readonly Resource[]
  readonly roles?: Roles
  readonly manages?: string
}): string {
  const managed = rolesOf(app)[managingRoleOf(app)] ?? []
  const rows = app.resources.flatMap(({ plural, fields }) =>
    guardedOf(fields).map(({ key, permission }) => {
      const isForManager = managed.some((one) => one === permission)
      return `  ('${plural}', '${columnOf(key)}', ${!isForManager})`
    }),
  )
  return `-- The columns of declared resources that need a permission. \`from_tenant\`: also the export of a tenant has none.
CREATE OR REPLACE FUNCTION hidden_columns() RETURNS TABLE (name text, hidden text, from_tenant boolean)
LANGUAGE sql IMMUTABLE AS $$
SELECT * FROM (VALUES
${['  (NULL::text, NULL::text, NULL::boolean)', ...rows].join(',\n')}
) t (name, hidden, from_tenant) WHERE t.name IS NOT NULL
$$;

`
}
