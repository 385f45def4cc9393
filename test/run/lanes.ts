import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'

/*
 * Which test files belong to which lane, and which of them need a process of their own. A new file is
 * in the first lane and shares a process unless it is named here.
 */

export type Lane = 'first' | 'second'

/** Slow by nature, each with the reason. Patterns of paths. */
const secondLane: Readonly<Record<string, string>> = {
  'test/**/*-browser.test.ts': 'a browser opens every page',
  'test/**/{crash,worker-loss}.test.ts': 'processes are killed in rounds',
  'test/access/{query-scope,row-level-security}-alone.test.ts': 'the matrix again on one lock',
  'test/access/{no-lock,second-opinion-worlds,revoked-while-writing}.test.ts': 'a world per case',
  'test/billing/{groups,record-races}.test.ts': 'many events in many orders',
  'test/cli.test.ts': 'the program is started for every case',
  'test/clients/typescript/package.test.ts': 'packs and installs the client',
  'test/commands/{api,billing,doctor,erasure,health,init,keys,ledger,migrate,program,rotation,serve-roles,trace,usage}.test.ts':
    'the program is started for every case',
  'test/db/{deadlocks,limits,open-transactions,pgbouncer,scoped-pool-killed}.test.ts':
    'waits for limits of the server, or ends its connections',
  'test/demo/{demo,running-demo,postgres/*}.test.ts': 'the whole demo is started',
  'test/docs/{new-resource,restore,verifying-webhooks}.test.ts': 'documents are carried out',
  'test/instances/*.test.ts': 'several instances behind a balancer',
  'test/release/*.test.ts': 'what is released is built and started',
  'test/reliability/*.test.ts': 'processes, servers and networks fail',
  'test/schema/citus/*.test.ts': 'a cluster is started',
}

/** Files that change or watch something of the whole process. */
const ownProcess: Readonly<Record<string, string>> = {
  'test/app.test.ts': 'the name of its snapshot is the path of the process',
}

export function filesOf(lane: Lane, root: string): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: root }).sort()
  return files.filter((file) => isIn(secondLane, file) === (lane === 'second'))
}

export function needsOwnProcess(file: string): boolean {
  return isIn(ownProcess, file)
}

function isIn(patterns: Readonly<Record<string, string>>, file: string): boolean {
  return Object.keys(patterns).some((pattern) => matchesGlob(file, pattern))
}

const mostFiles = 12 // in one process, so that a failure is found again quickly

/**
 * Groups files into batches that share a process: files of one folder together, small folders beside
 * their neighbours. Those with a process of their own are batches of one.
 */
export function batchesOf(files: readonly string[]): string[][] {
  const alone = files.filter(needsOwnProcess).map((file) => [file])
  const shared = files.filter((file) => !needsOwnProcess(file))
  const count = Math.ceil(shared.length / mostFiles)
  const size = Math.ceil(shared.length / count)
  const batches = Array.from({ length: count }, (_, index) =>
    shared.slice(index * size, (index + 1) * size),
  )
  return [...alone, ...batches.filter((batch) => batch.length > 0)]
}
