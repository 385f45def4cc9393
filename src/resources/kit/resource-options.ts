import type {
  Action,
  ActionName,
  Allowed,
  Condition,
  defineResource,
  Page,
  Resource,
} from './define.ts'
import { type OptionsOf, requireKnown } from './options.ts'

/* The options of a resource, as the compiler compares them with its types. */

type AnyDeclaration = Parameters<typeof defineResource>[1]
type Actions = AnyDeclaration['actions']

const ofAllowed = {
  ...{ summary: true, description: true, plan: true, feature: true },
  ...{ permission: true, token: true },
} as const satisfies OptionsOf<Allowed<string>>

const ofActions = {
  read: ofAllowed,
  create: { ...ofAllowed, accepts: true, sets: true, run: true },
  update: { ...ofAllowed, accepts: true, sets: true, unless: true, run: true },
  delete: { ...ofAllowed, unless: true, run: true },
} as const satisfies { [Name in ActionName]: OptionsOf<NonNullable<Actions[Name]>> }

const ofOwnAction = {
  ...{ ...ofActions.update, event: true, button: true },
} as const satisfies OptionsOf<NonNullable<AnyDeclaration['own']>[string]>

const ofCondition = {
  ...{ name: true, words: true, detail: true, appliesTo: true, needsTeams: true, forbids: true },
} as const satisfies OptionsOf<Condition>

const ofPage = {
  ...{ label: true, icon: true, lead: true, heading: true, columns: true, labels: true },
  create: { heading: true, button: true },
} as const satisfies OptionsOf<Page>

const ofResource = {
  ...{ plural: true, renamedFrom: true, scope: true, forServices: true, fields: true },
  ...{ filters: true, sort: true, search: true, visible: true, unique: true },
  ...{ actions: ofActions, own: true, events: true, payloads: true },
  ...{ example: true, erased: true, worker: true, page: ofPage },
} as const satisfies OptionsOf<AnyDeclaration>

/** @throws Error naming the first option that a resource does not have */
export function requireResourceOptions(name: string, declared: object): void {
  const subject = `The resource ${name}`
  requireKnown(subject, declared, ofResource)
  const { actions, own = {} } = declared as Pick<Resource, 'actions' | 'own'>
  for (const [action, one] of Object.entries(own)) {
    requireKnown(`${subject} has the action ${action}, which`, one, ofOwnAction)
  }
  for (const [action, { unless = [] }] of Object.entries<Action>({ ...actions, ...own })) {
    for (const condition of unless) {
      const of = `${subject} has for ${action} the condition ${condition.name}, which`
      requireKnown(of, condition, ofCondition)
    }
  }
}
