import type { Entry } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { TestDatabase } from './database.ts'

export type TestScope = { readonly userId?: number; readonly tenantId?: string }

/**
 * Entries with any scope, for tests of domain functions without a session. Adds a function to the
 * test's own database that sets the scope for the application roles; a database with it fails the
 * verification at start.
 */
export async function allowScopes<Scope extends TestScope>({
  admin,
}: Pick<TestDatabase, 'admin'>): Promise<(scope: Scope) => Entry<Scope>> {
  await admin.query(`
    CREATE OR REPLACE FUNCTION enter_test(user_id bigint, tenant_id uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    BEGIN PERFORM public.set_scope('session', '', user_id, tenant_id); END $$`)
  return (scope) => ({
    statement: () =>
      Prisma.sql`SELECT enter_test(${scope.userId ?? null}, ${scope.tenantId ?? null})`,
    admit: () => scope,
  })
}
