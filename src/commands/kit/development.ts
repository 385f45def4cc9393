import type { Config } from '#src/config/config.ts'
import type { Environment } from '#src/config/parse.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'

/** The webhook receiver and Ada's API token; only with the embedded database. */
export type Customer = { receiverUrl: string; token: string }

export type Demo = {
  /** The environment, completed with the settings of the embedded parts. */
  env: Record<string, string | undefined>
  /** Which parts are embedded. */
  embedded: { database: boolean; provider: boolean }
  customer: Customer | null
  stop(): Promise<void>
}

/** The process of a demo, and the settings of its embedded parts. */
export type RunningDemo = { pid: number; env: Environment; customer: Customer | null }

/** The demo and the builder of binaries, which are beside the program and not in it (dev). */
export type Development = {
  /** Starts the parts that are not configured. */
  startDemo(env: Environment): Promise<Demo>
  /** The demo that runs in this folder, or null. */
  findRunningDemo(): Promise<RunningDemo | null>
  withDemoSettings(env: Environment, running: RunningDemo): Environment
  /** @throws OperatorError if none runs in this folder */
  describeDemo(env: Environment): Promise<RunningDemo & { embedded: Demo['embedded'] }>
  /** The text that is printed after its start. */
  greeting(config: Config, demo: Omit<Demo, 'env' | 'stop'>): Promise<string>
  /** An empty database on a server of its own, which ends with the work. */
  withEmptyDatabase<T>(work: (ownerUrl: string) => Promise<T>): Promise<T>
  /** Writes the files of a new app. @returns their paths in the folder */
  createApp(
    folder: string,
    app: { name: string; isEmpty: boolean; archive: string | undefined },
  ): Promise<string[]>
  /** Writes the app of a folder and the program as one file. @returns a line for the developer */
  buildApp(app: string, file: string): Promise<string>
}

let load = async (): Promise<Development> => none

/** The demo, if the program was started with one. Without it missing settings are errors of the configuration. */
export function loadDevelopment(): Promise<Development> {
  return load()
}

/** Called by dev/cli.ts, before the command line begins. */
export function addDevelopment(development: () => Promise<Development>): void {
  load = development
}

const none: Development = {
  async startDemo(env) {
    const embedded = { database: false, provider: false }
    return { env: { ...env }, embedded, customer: null, stop: async () => {} }
  },
  findRunningDemo: async () => null,
  withDemoSettings: (env) => env,
  describeDemo: refuse,
  greeting: refuse,
  async withEmptyDatabase() {
    throw new OperatorError(
      'This program writes no migrations.',
      'Run `npx gatehouse migrate dev` in the folder of the app.',
    )
  },
  async createApp() {
    throw new OperatorError(
      'This program creates no app.',
      'Run `npx gatehouse create`, which npm gets from its registry.',
    )
  },
  async buildApp() {
    throw new OperatorError(
      'This program cannot build another.',
      'Run `npx gatehouse build` in the folder of the app.',
    )
  },
}

async function refuse(): Promise<never> {
  throw new OperatorError(
    'This program has no demo in it.',
    'Run `npm start` in a checkout, or `gatehouse init` for an installation.',
  )
}
