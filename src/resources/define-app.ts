import type pg from 'pg'
import { isHyphenated } from '#src/runtime/words.ts'
import { type Hooks, hookFaultOf } from './define-hooks.ts'
import type { AnyJob } from './define-job.ts'
import type { AppSettings } from './define-settings.ts'
import { invoices } from './invoices.ts'
import type { PageIcon, Resource } from './kit/define.ts'
import { distinct, distinctResources } from './kit/distinct.ts'
import { type OptionsOf, requireKnown } from './kit/options.ts'
import { type Plan, type Plans, planFaultOf } from './plans.ts'
import { type Roles, roleFaultOf } from './roles.ts'

/**
 * A Fastify plugin. It gets the server in a scope whose guards it cannot leave out. Its type is that of a function,
 * so that this module does not know Fastify.
 */
export type Plugin = (app: never, options: never) => Promise<void>

/** Loads a module when it is needed, as `() => import('./routes/report.ts')`. */
export type Load<One> = () => Promise<{ readonly default: One }>

/**
 * Where a plugin of the app is registered: `open` without a credential; `signedIn` for callers of the API;
 * `tenant` the same in the tenant of the caller; `people` for pages in a browser; `members` for pages in the
 * tenant of the viewer.
 */
export const appScopes = ['open', 'signedIn', 'tenant', 'people', 'members'] as const
/** A scope of routes, by the guards that it has. */
export type AppScope = (typeof appScopes)[number]

/** An entry of the navigation that leads to a page of the app's own. */
export type AppPage = {
  readonly href: string
  readonly label: string
  readonly icon: PageIcon
  /** What `HREF/ID` is called, if the page has objects with numbers. */
  readonly object?: string
}

/** A member of a tenant in the demo. */
export type DemoPerson = {
  readonly userId: string
  /** At the demo's provider. */
  readonly subject: string
  readonly name: string
  readonly role: string
  readonly department: string | null
  readonly tenant: { readonly id: string; readonly name: string }
}

/** Rows and commands for those who try the app. */
export type DemoOfApp = {
  /** Adds rows; the owner of the tables writes them, in a scope that `enter` sets. */
  seed?(
    owner: pg.Client,
    people: readonly DemoPerson[],
    enter: (tenantId: string, userId: string | null) => Promise<void>,
  ): Promise<void>
  /** One line below the address in the greeting. */
  readonly facts?: string
  /** A request that changes an object, and so sends a webhook: what the greeting shows as curl. */
  readonly change?: { readonly method: string; readonly path: string; readonly body: object }
}

/** What an app consists of. */
export type App = {
  /** Names its migrations in the database: lower-case words with hyphens. */
  readonly name: string
  readonly resources: readonly Resource[]
  /**
   * What each role may do, the least first: `{ member: ['task:read'], admin: everything }`. Those of the specification
   * by default: viewer, editor and admin, for posts.
   */
  readonly roles?: Roles
  /** The role that manages users, tokens and webhooks, and that the founder of a tenant has; `admin` by default. */
  readonly manages?: string
  /**
   * What each plan gives, the least first: `{ free: {}, pro: { features: ['export'], limits: { tasks: 10 } } }`.
   * BILLING_PLANS says which price gives which plan.
   */
  readonly plans?: Plans
  /** What it reads from the environment. */
  readonly settings?: AppSettings
  /** Background work in the scope of a tenant. */
  readonly jobs?: readonly AnyJob[]
  /** What it does when a person or tenant is new or gone, or a billing event has been processed. */
  readonly on?: Hooks
  readonly routes?: { readonly [Scope in AppScope]?: readonly Load<Plugin>[] }
  readonly pages?: readonly AppPage[]
  /** What it adds to the start page: a `Home` of `gatehouse/routes`. */
  readonly home?: Load<object>
  readonly demo?: Load<DemoOfApp>
}

/** What an installation without an app runs. */
export const bare: App = { name: 'none', resources: [] }

const options = {
  ...{ name: true, resources: true, roles: true, manages: true, plans: true, settings: true },
  ...{ jobs: true, on: true, pages: true, home: true, demo: true },
  routes: {
    open: true,
    signedIn: true,
    tenant: true,
    people: true,
    members: true,
  } satisfies OptionsOf<NonNullable<App['routes']>>,
} as const satisfies OptionsOf<App>

const optionsOfPage = {
  ...{ href: true, label: true, icon: true, object: true },
} as const satisfies OptionsOf<AppPage>

const optionsOfPlan = {
  ...{ name: true, features: true, limits: true },
} as const satisfies OptionsOf<Plan>

/** Whether an app can be called so. */
export function isAppName(name: string): boolean {
  return isHyphenated(name) && name !== bare.name
}

/**
 * Declares the app that the program runs: the default export of gatehouse.config.ts.
 * @throws Error if two resources, pages or jobs have one name, table or address, an option, role, permission, plan or
 *   hook is wrong, or the name is not words with hyphens
 */
export function defineApp(app: App): App {
  if (!isHyphenated(app.name)) {
    throw new Error(`The app has the name ${app.name}, which is not lower-case words with hyphens.`)
  }
  if (app.name === bare.name) throw new Error('The name none means an installation without an app.')
  requireKnown(`The app ${app.name}`, app, options)
  for (const page of app.pages ?? []) requireKnown(`The page ${page.href}`, page, optionsOfPage)
  for (const [name, plan] of Object.entries(app.plans ?? {}))
    requireKnown(`The plan ${name}`, plan, optionsOfPlan)
  const fault = roleFaultOf(app) ?? planFaultOf(app) ?? hookFaultOf(app.on ?? {})
  if (fault !== null) throw new Error(fault)
  distinctResources([...app.resources, invoices])
  distinct(
    app.pages ?? [],
    ({ href }) => href,
    (href) => `Two pages of the app have the address ${href}.`,
  )
  distinct(
    app.jobs ?? [],
    ({ name }) => name,
    (name) => `Two jobs of the app have the name ${name}.`,
  )
  return app
}
