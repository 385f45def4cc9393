import type { Resource } from './kit/define.ts'

/** As a limit: as many as anybody wants. */
export const unlimited = 'unlimited'

/** The plan of people without a subscription. */
export const noPlan = 'free'

/** What a plan gives. */
export type Plan = {
  /** On pages; the key by default. */
  readonly name?: string
  /** What actions of resources ask for with `feature`. */
  readonly features?: readonly string[]
  /** The most rows of a resource, by its table. Every plan names the same resources. */
  readonly limits?: Readonly<Record<string, number | typeof unlimited>>
}

/** The plans of an app by their names in `BILLING_PLANS`; `free` is that of people without a subscription. */
export type Plans = Readonly<Record<string, Plan>>

/** What somebody has by their plan. */
export type Entitlements = {
  readonly features: readonly string[]
  /** The most rows, by the table of each resource with a limit; null: unlimited. */
  readonly limits: Readonly<Record<string, number | null>>
}

type Declaring = {
  readonly resources: readonly Pick<
    Resource,
    'name' | 'plural' | 'scope' | 'visible' | 'forServices' | 'actions' | 'own'
  >[]
  readonly plans?: Plans
}

/** What each plan gives; `free` is among them. */
export function entitlementsIn(plans: Plans = {}): ReadonlyMap<string, Entitlements> {
  const all: Plans = { [noPlan]: {}, ...plans }
  return new Map(
    Object.entries(all).map(([name, { features = [], limits = {} }]) => {
      const most = Object.entries(limits).map(([table, one]) => [
        table,
        one === unlimited ? null : one,
      ])
      return [name, { features, limits: Object.fromEntries(most) }]
    }),
  )
}

/** The plans that have a feature, in the order of the app. */
export function plansWith(feature: string, plans: Plans = {}): string[] {
  return Object.keys(plans).filter((plan) => plans[plan]?.features?.includes(feature))
}

/** What is wrong with the plans of an app, as a sentence; null if nothing is. */
export function planFaultOf({ resources, plans = {} }: Declaring): string | null {
  const names = Object.keys(plans)
  const strange = names.find((one) => !/^[a-z][a-z0-9_-]{0,31}$/.test(one))
  if (strange !== undefined) {
    return `The plan ${strange} has a name that BILLING_PLANS cannot have: at most 32 small letters, digits, - and _.`
  }
  return limitFaultOf(resources, plans) ?? needFaultOf(resources, plans)
}

function limitFaultOf(resources: Declaring['resources'], plans: Plans): string | null {
  const limited = new Set(Object.values(plans).flatMap(({ limits = {} }) => Object.keys(limits)))
  for (const table of limited) {
    const resource = resources.find(({ plural }) => plural === table)
    const refusal = resource === undefined ? 'is no resource' : unlimitable(resource)
    if (refusal !== null) return `The plans limit ${table}, which ${refusal}.`
    for (const plan of [noPlan, ...Object.keys(plans)]) {
      const most = plans[plan]?.limits?.[table]
      if (most === undefined) {
        return `The plan ${plan} says nothing of the limit ${table}, which another plan has. Give a number or '${unlimited}'.`
      }
      if (most !== unlimited && !(Number.isSafeInteger(most) && most >= 0)) {
        return `The plan ${plan} has the limit ${most} of ${table}, which is no number of rows.`
      }
    }
  }
  return null
}

/** Why the rows of a resource cannot be counted for a person who creates one; null if they can. */
function unlimitable({
  scope,
  visible,
  forServices,
  actions,
}: Declaring['resources'][number]): string | null {
  if (actions.create === undefined) return 'no action creates'
  if (forServices) return 'is for services, which have no plan'
  return scope === 'chain' || visible !== undefined ? 'people see in part only' : null
}

function needFaultOf(resources: Declaring['resources'], plans: Plans): string | null {
  for (const { name, visible, actions, own } of resources) {
    const unknown = visible?.plans.find((one) => one !== noPlan && !Object.hasOwn(plans, one))
    if (unknown !== undefined && Object.keys(plans).length > 0) {
      return `The resource ${name} is seen with the plan ${unknown}, which the app does not have. Add it to plans, or name another one.`
    }
    for (const [action, { feature, plan = [] }] of Object.entries({ ...actions, ...own })) {
      if (feature !== undefined && plansWith(feature, plans).length === 0) {
        return `The resource ${name} needs the feature ${feature} for ${action}, which no plan has. Give it to a plan.`
      }
      const unknown = [plan].flat().find((one) => !Object.hasOwn(plans, one))
      if (unknown !== undefined && Object.keys(plans).length > 0) {
        return `The resource ${name} needs the plan ${unknown} for ${action}, which the app does not have. Add it to plans, or name another one.`
      }
    }
  }
  return null
}
