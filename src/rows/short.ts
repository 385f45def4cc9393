import type { ShortStatement } from '#src/db/database.ts'
import type { Prisma } from '#src/db/generated/client.ts'
import type { Asking } from '#src/resources/kit/fields/field.ts'
import { changeAndPublish } from '#src/webhooks/events/publish.ts'
import { wakeWorkers } from '#src/webhooks/schedule/due-attempts.ts'
import { needsRow } from './before-change.ts'
import { type ActionEvent, atHome, isPublished, typeOf } from './own-events.ts'
import type { Rows } from './rows.ts'
import { seenBy, writesUnseen } from './seen.ts'
import type { Declared, Values } from './table.ts'
import type { Tags } from './writes.ts'

/** Each action as one statement, with its event; null if it needs several (`ShortWork`). */
export type Short<Item> = {
  create(caller: Asking, body: Values, now: Date): Promise<ShortStatement<Item> | null>
  /** @param tags of `If-Match`: a row with another ETag is not changed */
  change(
    caller: Asking,
    id: number,
    body: Values,
    now: Date,
    tags?: Tags,
  ): Promise<ShortStatement<Item> | null>
  delete(caller: Asking, id: number, now: Date, tags?: Tags): Promise<ShortStatement<Item> | null>
}

export function shortOf<Item>(resource: Declared, rows: Rows<Item>): Short<Item> {
  const { name } = resource

  /**
   * @param sharedAs undefined for a deletion: its reserve of the budget of events lasts until the commit
   *   (add_usage)
   */
  async function withEvent(
    event: ActionEvent,
    tenantId: string,
    caller: Asking,
    change: Prisma.Sql,
    now: Date,
    sharedAs?: string,
  ): Promise<ShortStatement<Item>> {
    const publishes = isPublished(resource, event)
    const type = typeOf(resource, event)
    const statement = publishes
      ? await changeAndPublish({ tenantId }, { type, change, data: rows.json }, now)
      : change
    return {
      statement,
      ...(sharedAs !== undefined && { sharedAs }),
      read([row], tx) {
        if (row === undefined) return null
        if (publishes && Object(row).is_due) wakeWorkers(tx, { tenantId })
        return seenBy(resource, caller, rows.toItem(row))
      },
    }
  }

  return {
    async create(caller, body, now) {
      if (caller.tenantId === null || needsRow(resource, caller, 'create')) return null
      if (writesUnseen(resource, caller, body)) return null
      return withEvent(
        'created',
        caller.tenantId,
        caller,
        rows.insertion(caller, body, now),
        now,
        '',
      )
    },
    async change(caller, id, body, now, tags) {
      if (caller.tenantId === null || needsRow(resource, caller, 'update')) return null
      if (writesUnseen(resource, caller, body)) return null
      const change = rows.changing(atHome(resource, caller), id, body, now, tags)
      return withEvent('updated', caller.tenantId, caller, change, now, `${name} ${id}`)
    },
    async delete(caller, id, now, tags) {
      if (caller.tenantId === null || needsRow(resource, caller, 'delete')) return null
      const removal = rows.removal(atHome(resource, caller), id, tags)
      return withEvent('deleted', caller.tenantId, caller, removal, now)
    },
  }
}
