import type { ApiClient, Page, Query } from './api-client.ts'

const pageLimit = 100

/** All items of a list, or the first `count`. */
export async function collect<Item>(
  client: ApiClient,
  path: string,
  query: Query,
  count = Number.POSITIVE_INFINITY,
): Promise<{ items: Item[]; isMore: boolean }> {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const limit = String(Math.min(pageLimit, count - items.length))
    const page = await client.get<Page<Item>>(path, { ...query, limit, cursor })
    items.push(...page.data)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined && items.length < count)
  return { items, isMore: cursor !== undefined }
}
