import t from 'tap'
import { judgeSettings, type NodeSettings } from '#src/schema/citus/nodes.ts'
import { migrate } from '#src/schema/migrate.ts'
import { query } from '#test/support/database/raw-sql.ts'
import { createClusterDatabase, skipWithoutCluster, startCluster } from './cluster.ts'

const coordinator: NodeSettings = {
  ...{ isCoordinator: true, citus: '13.0-1', postgres: 15 },
  ...{ showsStatements: true, preparedTransactions: 100, connections: 100 },
}
const node: NodeSettings = { ...coordinator, isCoordinator: false, showsStatements: false }

const problemsOf = (...nodes: NodeSettings[]): string[] =>
  judgeSettings(new Map(nodes.map((facts, index) => [`node${index}`, facts]))).map(
    ({ problem }) => problem,
  )

t.test('nodes of a cluster are judged by what they say', async (t) => {
  t.strictSame(problemsOf(coordinator, node, node), [])
  t.strictSame(problemsOf(coordinator, node, { ...node, citus: '12.1-1' }), [
    'The nodes run different versions: PostgreSQL 15 with Citus 13.0-1, 15 with Citus 12.1-1.',
  ])
  t.strictSame(problemsOf(coordinator, { ...node, postgres: 16 }), [
    'The nodes run different versions: PostgreSQL 15 with Citus 13.0-1, 16 with Citus 13.0-1.',
  ])
  t.strictSame(problemsOf(coordinator, { ...node, citus: null }), [
    'The nodes run different versions: PostgreSQL 15 with Citus 13.0-1, 15 with Citus null.',
  ])
  t.strictSame(problemsOf(coordinator, { ...node, showsStatements: true }), [
    'The node node1 shows the statements of running sessions, and in them scopes.',
  ])
  const lone = 'The database is not the coordinator of a cluster with nodes.'
  t.strictSame(problemsOf(coordinator), [lone])
  t.strictSame(problemsOf(node, node), [lone])
  for (const nodes of [
    [{ ...coordinator, preparedTransactions: 99 }, node],
    [coordinator, { ...node, preparedTransactions: 99 }],
  ]) {
    t.match(problemsOf(...nodes), [/^The node node\d has max_prepared_transactions = 99, /])
  }
})

t.test(
  'a node with too few prepared transactions, or of another version',
  { skip: skipWithoutCluster },
  async (t) => {
    const cluster = await startCluster(t)
    const database = await createClusterDatabase(t, cluster)
    const [, node] = cluster.servers
    const distribute = () => migrate(database, undefined, { distribute: true })
    const url = node?.url(database.name) ?? ''
    const restart = async (setting: string) => {
      await query(url, setting)
      await node?.stop()
      await node?.start()
    }
    await restart('ALTER SYSTEM SET max_prepared_transactions = 5')
    await t.rejects(distribute(), {
      message: RegExp(`The node 127.0.0.1:${node?.port} has max_prepared_transactions = 5, fewer`),
    })
    await restart('ALTER SYSTEM RESET max_prepared_transactions')
    // The library stays the same, so it must not compare itself with the extension.
    await restart('ALTER SYSTEM SET citus.enable_version_checks = off')
    await query(url, `UPDATE pg_extension SET extversion = '12.1-1' WHERE extname = 'citus'`)
    await t.rejects(distribute(), {
      message: /different versions: PostgreSQL \d+ with Citus 1\d\.\d-\d, \d+ with Citus 12\.1-1/,
    })
    await restart('ALTER SYSTEM RESET citus.enable_version_checks')
  },
)
