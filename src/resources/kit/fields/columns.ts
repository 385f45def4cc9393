/** The types of columns, and what Prisma has for each. */
export type ColumnTypes = {
  text: string
  bigint: bigint
  integer: number
  boolean: boolean
  uuid: string
  timestamptz: Date
  date: string
  numeric: string
  jsonb: unknown
}

type Column = {
  /** As PostgreSQL spells it. */
  readonly spelled: string
  /** What it is in a schema of Prisma. */
  readonly prisma: string
  /** Whether its values can have any number of bytes. */
  readonly isLarge?: true
  /** SQL for what a statement selects, if not the column itself. */
  selected?(column: string): string
  /** What the driver returns, as JSON has it. */
  read(value: unknown): unknown
  /** SQL for the text of JSON that `read` means, from what was selected. */
  json(sql: string): string
  /** What a statement is given for a value. */
  sent?(value: unknown): unknown
}

const same = (value: unknown) => value
const asJson = (sql: string) => `to_json(${sql})::text`
const asText = (sql: string) => `${sql}::text`

/** What the program does with a value of each type. */
export const columns: Readonly<Record<keyof ColumnTypes, Column>> = {
  text: { spelled: 'text', prisma: 'String', isLarge: true, read: same, json: asJson },
  // The driver returns a 64-bit integer as a string.
  bigint: { spelled: 'bigint', prisma: 'BigInt', read: Number, json: asText },
  integer: { spelled: 'integer', prisma: 'Int', read: same, json: asText },
  boolean: { spelled: 'boolean', prisma: 'Boolean', read: same, json: asText },
  uuid: { spelled: 'uuid', prisma: 'String @db.Uuid', read: same, json: asJson },
  timestamptz: {
    spelled: 'timestamp with time zone',
    prisma: 'DateTime @db.Timestamptz(6)',
    read: (value) => (value as Date).toISOString(),
    // Milliseconds, which are all that a response has.
    sent: (value) => (value instanceof Date ? value : new Date(String(value)).toISOString()),
    json: (sql) =>
      `'"' || to_char(${sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'`,
  },
  // Selected as texts: drivers make other dates and numbers of them.
  date: {
    ...{ spelled: 'date', prisma: 'DateTime @db.Date', read: same, json: asJson },
    selected: (column) => `to_char(${column}, 'YYYY-MM-DD')`,
  },
  numeric: {
    spelled: 'numeric',
    prisma: 'Decimal @db.Decimal',
    read: same,
    json: asJson,
    selected: asText,
  },
  jsonb: {
    ...{ spelled: 'jsonb', prisma: 'Json', isLarge: true, read: same, json: asText },
    sent: (value) => JSON.stringify(value),
  },
}
