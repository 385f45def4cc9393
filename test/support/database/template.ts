import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { migrate } from '#src/schema/migrate.ts'

/** The logins of every test database; roles are shared by the whole cluster. */
export const logins = {
  owner: { name: 'test_owner', password: 'owner password' },
  app: { name: 'test_app', password: 'app password' },
  worker: { name: 'test_worker', password: 'worker password' },
} as const

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

export type Urls = { superuserUrl: string; ownerUrl: string; url: string; workerUrl: string }

/** Connection URLs of one database of the cluster, by role. */
export function urlsOf(clusterUrl: string, database: string): Urls {
  const as = (login?: { name: string; password: string }) => {
    const url = new URL(clusterUrl)
    url.pathname = `/${database}`
    if (login !== undefined) {
      url.username = login.name
      url.password = encodeURIComponent(login.password)
    }
    return url.href
  }
  return {
    superuserUrl: as(),
    ownerUrl: as(logins.owner),
    url: as(logins.app),
    workerUrl: as(logins.worker),
  }
}

/** Creates the migrated, empty database that all test databases are copied from. */
export async function prepareTemplate(clusterUrl: string): Promise<void> {
  await createOwnerAndDatabase(clusterUrl, logins.owner, templateName)
  await migrate(urlsOf(clusterUrl, templateName))
}
