import { inlineSchemas } from '#src/http/openapi/components.ts'
import { type ApiDescription, answerOf, type Operation } from '#src/http/openapi/examples.ts'
import { tagOf } from '#src/resources/kit/names.ts'
import { app } from '#src/resources/running-app.ts'

/** An operation of the description, with its responses instead of references to them. */
export type Entry = { path: string; method: string; operation: Operation }

/** The operations of one tag, which share a page. */
export type Group = {
  title: string
  /** The heading that it is listed below. */
  section: string
  href: string
  entries: readonly Entry[]
}

/** The section of what people work with. */
export const resourceSection = 'Resources'

/** The order in which people need them. A tag that is missing here is one of the resources. */
const sections: readonly { title: string; tags: readonly string[] }[] = [
  { title: 'Authentication', tags: ['API tokens', 'service tokens', 'account', 'app'] },
  {
    title: resourceSection,
    tags: [...app.resources.map(tagOf), 'folders', 'teams', 'invoices', 'members', 'tenants'],
  },
  { title: 'Webhooks', tags: ['webhook endpoints', 'webhook deliveries', 'events'] },
  { title: 'Billing', tags: ['billing', 'billing events', 'billing customers'] },
  { title: 'Sign-in', tags: ['sign-in'] },
]

/** The operations of the description by tag, in the order of `sections`. */
export function groupsOf(described: ApiDescription): Group[] {
  const description = inlineSchemas(described)
  const entries = Object.entries(description.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation: withAnswers(description, operation),
    })),
  )
  const byTag = Map.groupBy(entries, ({ operation }) => operation.tags?.[0] ?? 'other')
  const listed = sections.flatMap(({ tags }) => tags)
  const unlisted = [...byTag.keys()].filter((tag) => !listed.includes(tag))
  return sections.flatMap(({ title, tags }) =>
    [...tags, ...(title === resourceSection ? unlisted : [])].flatMap((tag) => {
      const inside = byTag.get(tag)
      if (inside === undefined) return []
      // `/me` before `/auth/…`, a collection before its objects.
      const depth = ({ path }: Entry) => path.split('/').length
      const entries = inside.toSorted((one, other) => depth(one) - depth(other))
      return [{ title: titleOf(tag), section: title, href: pathOf(tag), entries }]
    }),
  )
}

function withAnswers(description: ApiDescription, operation: Operation): Operation {
  const answers = Object.entries(operation.responses).map(([status, answer]) => [
    status,
    answerOf(description, answer),
  ])
  return { ...operation, responses: Object.fromEntries(answers) }
}

function titleOf(tag: string): string {
  return tag.charAt(0).toUpperCase() + tag.slice(1)
}

function pathOf(tag: string): string {
  return `/docs/api/${tag.toLowerCase().replaceAll(/\W+/g, '-')}`
}
