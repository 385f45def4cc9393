import pg from 'pg'
import { serialize } from 'pg-protocol'
import type { Deadlines } from '#src/runtime/deadlines.ts'
import { maxKept } from './kept-statements.ts'

/** Text, parameters, and a name under which a connection keeps the plan; without one it is not kept. */
export type Statement = {
  name?: string
  text: string
  values?: readonly unknown[]
  row?: RowAccess
  /** What a cluster gets instead. */
  onCluster?: () => Statement
}

/** What a statement does with one row of a table, for a database that wants another statement (`DatabaseForm`). */
export type RowAccess = {
  readonly does: 'find' | 'lock' | 'insert' | 'delete'
  readonly table: string
  /** What it returns of the row. */
  readonly selected: string
}

type Row = Record<string, unknown>
type Callback = (error: Error | undefined, rows?: Row[][]) => void
type Field = { name: string; dataTypeID: number; format: string }
type Column = { name: string; parse: (text: string) => unknown }

/** What is used of the driver's connection. */
type Connection = { stream: { write(bytes: Buffer): void } }

/**
 * Several statements in one packet and one answer: Bind and Execute for each, then a single Sync.
 * Without BEGIN that is one transaction, which ends at the Sync; once a statement fails, the server
 * skips the rest and takes everything back (PostgreSQL, "Pipelining" in its protocol chapter).
 *
 * Given to `query` of a client that does not pipeline queries of its own and calls the other methods.
 */
export class OneTrip implements pg.Submittable {
  callback: Callback = (error, rows) => this.#end(error, rows)
  readonly #client: Pick<pg.Client, 'getTypeParser'>
  #statements: readonly Encoded[]
  #rows: Row[][]
  #answer: Callback
  readonly #known: Map<string, Prepared>
  #columns: Column[] = []
  #unreadable: UnreadableRow | undefined
  #current = 0

  /** @throws RefusedStatement for a parameter of a type that is not sent */
  constructor(
    client: Pick<pg.Client, 'getTypeParser'>,
    statements: readonly Statement[],
    callback: Callback,
  ) {
    this.#client = client
    this.#statements = statements.map(encodeAt)
    this.#rows = statements.map(() => [])
    this.#known = preparedOn(client)
    this.#answer = callback
  }

  submit(connection: unknown): void {
    const messages = [
      ...this.#closeOthers(),
      ...this.#statements.flatMap((statement) => this.#messagesOf(statement)),
    ]
    // One buffer: each write to the socket costs more than everything else here.
    ;(connection as Connection).stream.write(Buffer.concat([...messages, serialize.sync()]))
    this.#begin()
  }

  /** The connection keeps the statements that it used last. */
  #closeOthers(): Buffer[] {
    const known = this.#known
    let added = 0
    for (const { name, text } of this.#statements) {
      const prepared = this.#find(name, text)
      if (prepared === undefined) {
        added += 1
      } else {
        known.delete(name)
        known.set(name, prepared)
      }
    }
    if (known.size + added <= maxKept) return []
    const closed = [...known.keys().take(known.size + added - maxKept)]
    for (const name of closed) known.delete(name)
    return closed.map((name) => serialize.close({ type: 'S', name }))
  }

  #messagesOf({ name, text, values }: Encoded): Buffer[] {
    const isKnown = this.#find(name, text) !== undefined
    return [
      // After a failure it is uncertain whether the name is taken; closing none is no error.
      ...(!isKnown && name !== '' ? [serialize.close({ type: 'S', name })] : []),
      ...(isKnown ? [] : [serialize.parse({ name, text })]),
      serialize.bind({ statement: name, values }),
      ...(isKnown ? [] : [serialize.describe({ type: 'P', name: '' })]),
      serialize.execute({}),
    ]
  }

  #find(name: string, text: string): Prepared | undefined {
    const prepared = this.#known.get(name)
    return prepared?.text === text ? prepared : undefined
  }

  /** Columns of a statement that was prepared before are known; the others are described. */
  #begin(): void {
    const statement = this.#statements[this.#current]
    if (statement === undefined) return
    this.#columns = this.#find(statement.name, statement.text)?.columns ?? []
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => {
      return { name, parse: this.#client.getTypeParser(dataTypeID, 'text') }
    })
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    try {
      this.#rows[this.#current]?.push(readRow(this.#columns, fields))
    } catch (error) {
      this.#unreadable ??= new UnreadableRow(this.#current, toError(error))
    }
  }

  handleCommandComplete(): void {
    const { name = '', text = '' } = this.#statements[this.#current] ?? {}
    if (name !== '') this.#known.set(name, { text, columns: this.#columns })
    this.#current += 1
    this.#begin()
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete()
  }

  handleError(error: Error): void {
    // Its plan may be what fails, for instance after a migration: the next time it is made again.
    this.#known.delete(this.#statements[this.#current]?.name ?? '')
    const isAnswer = error instanceof pg.DatabaseError && error.severity !== 'FATAL'
    this.callback(isAnswer ? new RefusedStatement(this.#current, error) : error)
  }

  handleReadyForQuery(): void {
    this.callback(this.#unreadable, this.#rows)
  }

  /** The connection is not usable any more: its answer may still come. */
  giveUp(): void {
    this.#end(new Error('Query read timeout'))
  }

  /** The client refers to it until the next query, so it keeps nothing large. */
  #end(error: Error | undefined, rows?: Row[][]): void {
    const answer = this.#answer
    this.#answer = ignore
    this.#statements = []
    this.#rows = []
    answer(error, rows)
  }

  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: { sendCopyFail(reason: string): void }): void {
    connection.sendCopyFail('COPY is not for this connection')
  }

  handleCopyData(): void {}
}

function ignore(): void {}

function readRow(columns: readonly Column[], fields: readonly (string | null)[]): Row {
  const row: Row = {}
  let index = 0 // entries() would make an array for each value
  for (const { name, parse } of columns) {
    const text = fields[index++] ?? null
    row[name] = text === null ? null : parse(text)
  }
  return row
}

type Prepared = { text: string; columns: Column[] }

/** What each connection has prepared; goes with the connection. */
const prepared = new WeakMap<object, Map<string, Prepared>>()

function preparedOn(client: object): Map<string, Prepared> {
  const known = prepared.get(client) ?? new Map<string, Prepared>()
  prepared.set(client, known)
  return known
}

/** One statement of a packet was refused, so that none of them counts; the connection goes on. */
export class RefusedStatement extends Error {
  override readonly cause: Error
  /** Which one, counted from 0. */
  readonly position: number

  constructor(position: number, cause: Error) {
    super(cause.message)
    this.position = position
    this.cause = cause
  }
}

/** The packet was carried out, but the driver cannot read a row that one of its statements returned. */
export class UnreadableRow extends RefusedStatement {}

/**
 * Sends `statements` as one packet; resolves to the rows of each.
 * @param silence how long the answer may take
 * @throws RefusedStatement; any other error means that the connection is not usable any more
 */
export function sendOnce(
  client: pg.ClientBase,
  statements: readonly Statement[],
  silence: Deadlines,
): Promise<Row[][]> {
  return new Promise((resolve, reject) => {
    const trip = new OneTrip(client, statements, (error, rows) => {
      silence.end(deadline)
      if (error === undefined) resolve(rows ?? [])
      else reject(error)
    })
    const deadline = silence.begin(() => trip.giveUp())
    client.query(trip)
  })
}

type Encoded = { name: string; text: string; values: (string | Buffer | null)[] }

function encodeAt(statement: Statement, position: number): Encoded {
  try {
    return encode(statement)
  } catch (error) {
    throw new RefusedStatement(position, toError(error))
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

function encode({ name = '', text, values = [] }: Statement): Encoded {
  return { name, text, values: values.map(encodeValue) }
}

function encodeValue(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (Buffer.isBuffer(value)) return value
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  }
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') {
    return String(value)
  }
  if (Array.isArray(value)) return encodeArray(value)
  throw new TypeError('a parameter of a type that is not sent')
}

/** The form of arrays in PostgreSQL's texts. */
function encodeArray(values: readonly unknown[]): string {
  return `{${values.map(encodeElement).join()}}`
}

function encodeElement(value: unknown): string {
  const encoded = encodeValue(value)
  if (encoded === null) return 'NULL'
  if (Array.isArray(value)) throw new TypeError('an array of arrays')
  if (Buffer.isBuffer(encoded)) return `"\\\\x${encoded.toString('hex')}"`
  return typeof value === 'string' ? `"${encoded.replace(/["\\]/g, '\\$&')}"` : encoded
}
