/** The logins of every test database; roles are shared by the whole cluster. */
export const logins = {
  owner: { name: 'test_owner', password: 'owner password' },
  app: { name: 'test_app', password: 'app password' },
  worker: { name: 'test_worker', password: 'worker password' },
} as const

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
