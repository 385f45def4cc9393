import type { Principal } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { PageOf } from '#src/http/schemas.ts'
import { AppType } from './app-schemas.ts'
import { appTypeList, listAppTypes } from './app-types.ts'

export const listEventTypes = defineAction({
  name: 'listEventTypes',
  rule: { resource: 'event-type', action: 'read' },
  tag: 'app',
  summary: 'The event types of your app, by name',
  list: appTypeList,
  result: PageOf(AppType),
  run: ({ tx }: Acting<Principal>, { page }) => listAppTypes(tx, page),
})
