import { type Entitlements, entitlementsIn, noPlan } from '#src/resources/plans.ts'
import { app } from '#src/resources/running-app.ts'

const declared = entitlementsIn(app.plans)
const ofNoPlan: Entitlements = declared.get(noPlan) ?? { features: [], limits: {} }

/** The plans of the app, the least first; none if it declares none. */
export const planNames: readonly string[] = Object.keys(app.plans ?? {})

/** What a plan gives. Who has none, or one that the app does not declare, has what `free` gives. */
export function entitlementsOf(plan: string | null): Entitlements {
  return declared.get(plan ?? noPlan) ?? ofNoPlan
}

/** The name of a plan on pages. */
export function planTitle(plan: string | null): string {
  const name = plan ?? noPlan
  return (Object.hasOwn(app.plans ?? {}, name) ? app.plans?.[name]?.name : undefined) ?? name
}

/** The plans that have more rows of a table than this. */
export function plansAbove(table: string, most: number): string[] {
  return planNames.filter((plan) => {
    const other = declared.get(plan)?.limits[table]
    return other === null || (other !== undefined && other > most)
  })
}
