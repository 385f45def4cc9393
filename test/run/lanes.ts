import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'

/*
 * Which test files belong to which lane, and which of them need a process of their own. A new file is
 * in the first lane and shares processes unless it is named here.
 */

export type Lane = 'first' | 'second'

/** Slow by nature, each with the reason. Patterns of paths. */
const secondLane: Readonly<Record<string, string>> = {
  'test/run/interrupted.test.ts': 'a run is started and interrupted',
  'test/mutation/run.test.ts': 'rules are removed, and the tests of each run',
  'test/docs/{install,tutorial,migrations,from-a-clone,new-resource,restore,verifying-webhooks,beside-your-app/*}.test.ts':
    'documents are carried out',
  'test/access/{query-scope,row-level-security}-alone.test.ts': 'the matrix again on one lock',
  'test/testing/expect-access.test.ts': 'the matrix of an app, several times',
  'test/testing/test-{app,database}.test.ts': 'a PostgreSQL for each app',
  'test/access/{no-lock,second-opinion-worlds,revoked-while-writing}.test.ts': 'a world per case',
  'test/resources/on-{archive,small,office,no}-app.test.ts':
    'the tests of the core again, on other apps',
  'test/queue/idle.test.ts': 'counts the statements of a minute',
  'test/access/constant-time-revocation.test.ts': 'half a million rows of each kind of history',
  'test/reliability/*.test.ts': 'processes, servers and networks fail',
  'test/instances/*.test.ts': 'several instances behind a balancer',
  'test/commands/{program.test.ts,{api,billing,database,keys,serve,tenants,webhooks}/*.test.ts}':
    'the program is started for every case',
  'test/commands/setup/{doctor-billing,doctor-services,doctor,init,providers}.test.ts':
    'the program is started for every case',
  'test/commands/development/{dev,upgrade,new/command,migrate-dev,generate,create,openapi}.test.ts':
    'the program is started for every case',
  'test/{schema/app-migrations,remedies/{database,commands},resources/app-routes}.test.ts':
    'the program is started for every case',
  'test/{cli,commands/app/app-tokens}.test.ts': 'the program is started for every case',
  'test/**/{crash,worker-loss}.test.ts': 'processes are killed in rounds',
  'test/release/{binary,package,publish,typed-client,upgrade,compose-balancer,haproxy}.test.ts':
    'what is released is built and started',
  'test/{db/{deadlocks,limits,pgbouncer,transactions-killed},operations/open-transactions}.test.ts':
    'waits for limits of the server, or ends its connections',
  'test/billing/{groups,record-races}.test.ts': 'many events in many orders',
  'test/webhooks/probe/longest-call.test.ts': 'waits for the longest time limit of a call',
  'test/{demo/{demo,npm-start,running-demo,postgres/*},remedies/start}.test.ts':
    'the whole demo is started',
  'test/pages/every-page-browser.test.ts': 'a browser opens every page',
  'test/**/*-browser.test.ts': 'a browser does what people do',
  'test/clients/typescript/package.test.ts': 'packs and installs the client',
  'test/schema/citus/*.test.ts': 'a cluster is started',
}

/** Files that change or watch something of the whole process. */
const ownProcess: Readonly<Record<string, string>> = {
  'test/access/plan-required.test.ts': 'it gives a rule of the policy a plan',
  'test/app.test.ts': 'the name of its snapshot is the path of the process',
  'test/db/shared-writes.test.ts': 'it gives a type of columns a parser that fails',
  '{test/resources/on-{archive,small,office,no}-app,test/docs/field-kinds}.test.ts':
    'it loads another app',
  'test/queue/idle.test.ts': 'it counts the statements of the process',
  'test/operations/connections.test.ts': 'it watches every pool of the process',
}

/**
 * What the first lane leaves out on a cluster, each with the reason: files about the database itself,
 * with statements that a cluster refuses. test/schema/citus/ has those of a cluster.
 */
const onOnePostgres: Readonly<Record<string, string>> = {
  'test/schema/*.test.ts': 'tables, policies and functions of one PostgreSQL',
  'test/db/*.test.ts': 'statements, plans and locks of one PostgreSQL',
  'test/access/no-credential.test.ts': 'statements on every table, those of a cluster among them',
  'test/{access/{relations,same-ids},rows/actions}.test.ts':
    'rows are read by id without the form of a cluster',
  'test/webhooks/delivery/shared-commit.test.ts': 'outcomes share no packet on a cluster',
  'test/docs/field-kinds.test.ts': 'plans of one PostgreSQL',
  'test/teams/folders.test.ts': 'as a superuser, beside functions of the owner',
}

/** Every pattern, of all tables. */
export const patterns = [secondLane, ownProcess, onOnePostgres].flatMap((table) =>
  Object.keys(table),
)

/** The files of a lane; of the second, in the order of its patterns, which has the longest first. */
export function filesOf(lane: Lane, root: string, { onCluster = false } = {}): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: root }).sort()
  if (lane === 'first') {
    const first = files.filter((file) => !isIn(secondLane, file))
    return onCluster ? first.filter((file) => !isIn(onOnePostgres, file)) : first
  }
  const patterns = Object.keys(secondLane)
  const matches = patterns.flatMap((pattern) => files.filter((file) => matchesGlob(file, pattern)))
  return [...new Set(matches)]
}

export function needsOwnProcess(file: string): boolean {
  return isIn(ownProcess, file)
}

function isIn(patterns: Readonly<Record<string, string>>, file: string): boolean {
  return Object.keys(patterns).some((pattern) => matchesGlob(file, pattern))
}

/** Fewer would make starting a process and warming it up, about two seconds, much of the work. */
const fewestFiles = 10

export type Division = {
  /** Each is a process of its own. */
  alone: string[]
  /** Any of the other processes runs the next of these, in this order. */
  shared: string[]
  processes: number
}

/**
 * Divides files among processes: those of the second lane, and those that need it, have one each; all
 * others share a few.
 * @param most as many as run at once
 */
export function divide(files: readonly string[], lane: Lane, most: number): Division {
  if (lane === 'second') return { alone: [...files], shared: [], processes: 0 }
  const alone = files.filter(needsOwnProcess)
  const shared = files.filter((file) => !needsOwnProcess(file))
  return { alone, shared, processes: Math.min(most, Math.ceil(shared.length / fewestFiles)) }
}
