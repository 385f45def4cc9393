import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { logins, urlsOf } from '#dev/testing/logins.ts'
import { migrate } from '#src/schema/migrate.ts'

/** `npm run mutate` uses templates with a mutation. */
export const templateName = process.env.TEST_TEMPLATE ?? 'gatehouse_template'

/** The superuser's URLs of the servers of the run: the only one, or the coordinator and the nodes. */
export function serverUrls(): string[] {
  const { TEST_POSTGRES_URL, TEST_NODES } = process.env
  return [TEST_POSTGRES_URL, ...(TEST_NODES?.split(' ') ?? [])].filter((url) => url !== undefined)
}

/** Whether every test database of this run is distributed over a cluster (TEST_CLUSTER). */
export function isOnCluster(): boolean {
  return serverUrls().length > 1
}

/** Creates the migrated, empty database that all test databases are copied from. */
export async function prepareTemplate(clusterUrl: string): Promise<void> {
  await createOwnerAndDatabase(clusterUrl, logins.owner, templateName)
  await migrate(urlsOf(clusterUrl, templateName))
}
